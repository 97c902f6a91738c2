"""Which fused kernels of torch's attention layers a plain run takes where recording takes the slow path.

These layers give up their fused kernel as soon as any function mode listens. So each is asked once more without one, up to
the first op that shows which way it goes.
"""

from collections.abc import Callable
from typing import Any

from torch import nn

from tb_shapeplugin.tracing.compat import TorchDispatchMode, no_function_modes
from tb_shapeplugin.tracing.following import MODULE_CALLS

_FORWARDS: dict[Callable[..., Any] | None, str] = {
    nn.MultiheadAttention.forward: "_native_multi_head_attention",
    nn.TransformerEncoderLayer.forward: "_transformer_encoder_layer_fwd",
    nn.TransformerEncoder.forward: "_nested_tensor_from_mask",
}
_WHOLE = ("_native_multi_head_attention", "_transformer_encoder_layer_fwd")  # these do all the work of their layer
# The slow path of each of them meets one of these first.
_SLOW = ("addmm", "mm", "bmm", "linear", "matmul", "native_layer_norm", "layer_norm")
_NAMED_MODULES = 3  # in one sentence


class _Decided(Exception):
    """An op has shown which way a layer goes."""


class _Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Ends a layer's forward at the first op that decides."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.met = ""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        name = func._schema.name.partition("::")[2]
        if name in _FORWARDS.values() or name in _SLOW:
            self.met = name
            raise _Decided
        return func(*args, **(kwargs or {}))


class FusedPaths:
    """Gathers the modules whose calls were recorded on another path than a plain run takes."""

    def __init__(self) -> None:
        self._modules: dict[str, list[str]] = {}  # kernel -> paths of the modules
        self._inside = 0  # how many open calls were noted: what they call, a plain run doesn't

    def ask(self, module: nn.Module, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Notes a call for which a plain run takes a fused kernel; True where it then calls no layer inside, until it ends."""
        kernel = _FORWARDS.get(getattr(type(module), "forward", None))  # TorchScript's classes have none
        if kernel is None or module.training or self._inside:
            return False
        watching = _Watching()
        try:
            with MODULE_CALLS.paused(), no_function_modes(), watching:
                module.forward(*args, **kwargs)
        except Exception:  # decided; or the call fails, which the run itself tells
            pass
        if watching.met != kernel:
            return False
        paths = self._modules.setdefault(kernel, [])
        if path not in paths:
            paths.append(path)
        hides = kernel in _WHOLE
        self._inside += hides
        return hides

    def leave(self, hides: bool) -> None:
        """The call ends for which ``ask`` gave that answer."""
        self._inside -= hides

    def notes(self) -> list[str]:
        """One sentence a kernel."""
        return [
            f"{_listed(paths)}: recorded on the slow path, a plain run takes the fused kernel torch.{kernel}"
            for kernel, paths in self._modules.items()
        ]


def _listed(paths: list[str]) -> str:
    named = ", ".join(path or "the model itself" for path in paths[:_NAMED_MODULES])
    return named + (f" and {len(paths) - _NAMED_MODULES} more" if len(paths) > _NAMED_MODULES else "")
