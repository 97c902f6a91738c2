"""Rules of Fourier transforms: stft, istft and the fft family."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, numbers, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

_ONE_AXIS = "fft ifft rfft irfft hfft ihfft"
_SEVERAL_AXES = "fft2 ifft2 fftn ifftn"


def _stft(call: OpCall) -> tuple[Operand, int, int]:
    x, size = tensor(call, 0, "input"), call.integer(1, "n_fft", 0)
    hop = call.integer(2, "hop_length", size // 4)
    if size < 1 or hop < 1 or not x.ndim:
        raise Unreadable(f"{call.name} of windows of {size}, {hop} apart")
    return x, size, hop


def _stft_requires(call: OpCall) -> Clash | None:
    x, size, _ = _stft(call)
    if x.ndim not in (1, 2):
        return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes 2 (batch, time), or 1 without a batch")
    length, half = x.shape[-1], size // 2
    centred = call.get(5, "center", True) is True
    if centred and call.get(6, "pad_mode", "reflect") == "reflect" and half >= length:
        words = f"dim {x.ndim - 1} of its input {x} is {length}, n_fft {size} pads it by {half}, which has to be less than {length}"
        return Clash("pad_size", {"pad": half}, {"below": length}, operand=x.id, dim=x.ndim - 1, words=words)
    if not centred and length < size:
        words = f"dim {x.ndim - 1} of its input {x} is {length}, n_fft covers {size}"
        return Clash("conv_kernel", {"size": length}, {"min_size": size}, operand=x.id, dim=x.ndim - 1, words=words)
    window, width = call.operand(4, "window"), call.integer(3, "win_length", size)
    if window is not None and window.shape != (width,) and window.ndim == 1:
        words = f"the window {window} is {window.shape[0]} long, win_length is {width}"
        return Clash("broadcast", {"size": window.shape[0]}, {"size": width}, operand=window.id, dim=0, words=words)
    return None


def _stft_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, size, hop = _stft(call)
    length = x.shape[-1] + (2 * (size // 2) if call.get(5, "center", True) is True else 0)
    onesided = call.get(8, "onesided") is not False
    frequencies = size // 2 + 1 if onesided else size
    pair = () if call.get(9, "return_complex") is not False else (2,)
    return one((*x.shape[:-1], frequencies, max(1, 1 + (length - size) // hop), *pair))


def _axis(call: OpCall) -> tuple[Operand, int]:
    return tensor(call, 0, "input"), call.integer(2, "dim", -1)


def _fft_requires(call: OpCall) -> Clash | None:
    x, dim = _axis(call)
    return axis_missing(call, x, dim)


def _fft_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _axis(call)
    at, name = wrapped(dim, x.ndim), call.short_name
    doubles, halves = name in ("irfft", "hfft"), name in ("rfft", "ihfft")
    size = call.integer(1, "n", 2 * (x.shape[at] - 1) if doubles else x.shape[at])
    return one(replaced(x.shape, at, size // 2 + 1 if halves else size))


def _several_requires(call: OpCall) -> Clash | None:
    x, dims = tensor(call, 0, "input"), call.get(2, "dim", (-2, -1) if call.short_name.endswith("2") else None)
    return None if dims is None else axis_missing(call, x, *numbers(dims))


def _several_gives(call: OpCall) -> tuple[Outputs, ...]:
    if call.get(1, "s") is not None:
        raise Unreadable(f"{call.name} to other sizes")
    return one(tensor(call, 0, "input").shape)


def _istft(call: OpCall) -> tuple[Operand, int, int]:
    """The spectrum, the axis of its frequencies, and how many of them there have to be."""
    x, size = tensor(call, 0, "input"), call.integer(1, "n_fft", 0)
    dim = x.ndim - (2 if x.dtype.startswith("complex") else 3)
    onesided = call.get(7, "onesided")
    if onesided is None:  # torch tells by the number of frequencies
        onesided = not 0 <= dim < x.ndim or x.shape[dim] != size
    return x, dim, size // 2 + 1 if onesided else size


def _istft_requires(call: OpCall) -> Clash | None:
    x, dim, want = _istft(call)
    if dim not in (0, 1):
        need = x.ndim - dim + 1
        return rank(
            x, need, f"its input {x} has {axes_text(x.ndim)}, it takes {need} (batch, frequencies, time), or {need - 1} without a batch"
        )
    if x.shape[dim] == want:
        return None
    words = f"dim {dim} of its input {x} holds {x.shape[dim]} frequencies, n_fft takes {want}"
    return Clash("broadcast", {"frequencies": x.shape[dim]}, {"frequencies": want}, operand=x.id, dim=dim, words=words)


RULES.register("istft")(Rule(_istft_requires))
RULES.register("stft")(Rule(_stft_requires, _stft_gives))
RULES.register(*_ONE_AXIS.split())(Rule(_fft_requires, _fft_gives))
RULES.register(*_SEVERAL_AXES.split())(Rule(_several_requires, _several_gives))
