"""Every private or third-party name that tracing touches, in one place. Tried with torch 2.4 to 2.13."""

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import get_testing_overrides, resolve_name
from torch.utils import _python_dispatch

__all__ = ["FakeTensor", "FakeTensorMode", "TorchDispatchMode", "fresh_fake_mode"]

# Functions that torch hands to function modes under a private name.
_PUBLIC_NAMES = {
    "_pack_padded_sequence": "torch.nn.utils.rnn.pack_padded_sequence",
    "_pad_packed_sequence": "torch.nn.utils.rnn.pad_packed_sequence",
    "pad_sequence": "torch.nn.utils.rnn.pad_sequence",
}

# What TorchScript gives Python to call, by the name under which such calls are written down.
SCRIPTED_KINDS: dict[Any, str] = {torch._C.ScriptFunction: "torch.jit.ScriptFunction", torch._C.ScriptMethod: "torch.jit.ScriptModule"}

# Raised by shape-level kernels where a result depends on values; told by name, as they are private and move.
_VALUE_READS = {
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "UnsupportedOperatorException",
    "UnsupportedFakeTensorException",
}

# What shape-level execution says of memory that it doesn't have, and of ragged sizes, which it can't follow.
NO_QUANTISED = "shape-level execution has no quantised tensors"
NO_ENTRIES = "shape-level execution doesn't know how many entries a sparse tensor has"
_NO_SHAPE_LEVEL = ("data is not allocated yet", "shape_env must not be None", "cannot be called on meta tensors", NO_QUANTISED, NO_ENTRIES)

# What tells how many entries a sparse tensor has: fakes of those have none.
_COUNTING = ("_nnz", "values", "indices", "crow_indices", "col_indices", "ccol_indices", "row_indices")

# Parts of torch whose own Python calls are not the user's ops, met when a mode is active below them.
_TORCH_INTERNALS = (
    "_subclasses",
    "_prims",
    "_refs",
    "_decomp",
    "_meta_registrations",
    "_functorch",
    "_ops.py",
    "_library",
    "_dynamo",
    "_higher_order_ops",
    "distributed/fsdp",  # gathers parameters around a forward
    "distributed/_composable",
    "nn/parallel",
    "nn/init.py",  # lazy modules fill themselves inside a forward
    "nn/parameter.py",
    "nn/modules/lazy.py",
)


class TorchDispatchMode(_python_dispatch.TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """A dispatch mode without torch's guard against compilation, which is a twelfth of a shape-level run.

    No frame is compiled while such a mode is active, the handler's neither. Operators that take functions (torch.cond, flex_attention) come
    to it as any others do.
    """

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


_GROUPED_MM = getattr(getattr(torch.ops.aten, "_grouped_mm", None), "default", None)
_dispatched = inspect.unwrap(fake_tensor.FakeTensorMode.__torch_dispatch__)


class FakeTensorMode(fake_tensor.FakeTensorMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """torch's own, without that guard."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._unsafe_view.default:  # to fakes the same as a view, of which torch remembers what it gives
            func = torch.ops.aten.view.default
        elif func is _GROUPED_MM and device_of(args[0]).type == "cpu" and args[0].dtype is torch.float32:
            with no_function_modes():  # the CPU's kernel takes float32, the one that tells shapes doesn't
                with self:
                    halves = tuple(
                        arg.to(torch.bfloat16) if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in args
                    )
                half = _dispatched(self, func, types, halves, kwargs or {})
                with self:
                    return half.to(torch.float32)
        return _dispatched(self, func, types, args, kwargs or {})


def fresh_fake_mode() -> FakeTensorMode:
    """A fake mode for one twin: closures and globals that stayed real are let in."""
    return FakeTensorMode(allow_non_fake_inputs=True)


_VARIABLE_DIMS = "_dynamo_dynamic_indices"  # where torch._dynamo.mark_dynamic keeps what it is told


def declared_variable(tensor: torch.Tensor) -> set[int]:
    """The dims that ``torch._dynamo.mark_dynamic`` has declared variable."""
    return set(getattr(tensor, _VARIABLE_DIMS, ()))


def fake_of(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """The fake of a tensor, with fixed sizes; the same tensor gives the same fake, those that share memory share it still.

    A fake of another mode, as a model built under one has them, gets a fake of this one.
    """
    if isinstance(tensor, FakeTensor) and tensor.fake_mode is mode:
        return tensor
    with real_execution(), no_function_modes():
        fake = _plain_fake(mode, tensor) if _is_plain(tensor) else None
    if fake is None:
        fake = mode.from_tensor(tensor, static_shapes=True)
    if variable := getattr(tensor, _VARIABLE_DIMS, None):
        setattr(fake, _VARIABLE_DIMS, set(variable))
    return fake


def _is_plain(tensor: torch.Tensor) -> bool:
    """Is this a tensor that its sizes, strides, storage and device describe in full?"""
    return (
        type(tensor) in (torch.Tensor, nn.Parameter, FakeTensor)
        and tensor.layout is torch.strided
        and tensor.is_leaf
        and not (tensor._is_view() or tensor.is_inference() or tensor.is_quantized or tensor.is_nested or tensor.is_neg())
        and not (tensor.is_complex() and tensor.is_conj())
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def _plain_fake(mode: FakeTensorMode, tensor: torch.Tensor) -> FakeTensor | None:
    """Made by hand: ``from_tensor`` takes several times as long, most of a capture. None where this torch keeps its books otherwise."""
    try:
        converter = mode.fake_tensor_converter
        metas = converter.meta_converter
        known = converter._get_memo(tensor)
        if known is not None:
            return known
        storage = tensor.untyped_storage()
        key = metas.describer.get_storage_id(storage)
        held = metas.storage_memo.get(key)
        if held is None:
            held = metas.storage_memo[key] = torch.UntypedStorage(storage.nbytes(), device="meta")  # type: ignore[no-untyped-call]
        content = torch.empty(0, dtype=tensor.dtype, device="meta")
        content.set_(held, tensor.storage_offset(), tensor.shape, tensor.stride())
        content.requires_grad_(tensor.requires_grad and not is_missing(device_of(tensor)))
        fake = FakeTensor(mode, content, device_of(tensor))
        converter.set_tensor_memo(tensor, fake)
    except (AttributeError, TypeError):
        return None
    if isinstance(tensor, nn.Parameter):
        fake._is_param = True  # what makes it an nn.Parameter
    if tensor.grad is not None:
        fake.grad = fake_of(mode, tensor.grad)
    return fake


def device_of(tensor: torch.Tensor) -> torch.device:
    """The device that a tensor says it is on; a fake would ask every dispatch mode for it."""
    return tensor.fake_device if isinstance(tensor, FakeTensor) else tensor.device


def is_value_read(error: BaseException) -> bool:
    """Did shape-level execution end because it met a read of values, or an op that has no shape-level kernel?"""
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in _VALUE_READS or any(words in str(seen) for words in _NO_SHAPE_LEVEL):
            return True
        text = str(seen)
        if "FakeTensor" in text and ("numpy" in text or "tolist" in text or "not supported" in text or "NYI" in text):
            return True
        seen = seen.__cause__
    return False


_names: dict[Any, str] = {}  # Any: torch functions are of many types, all hashable


def op_name(function: Callable[..., Any]) -> str:
    """A torch function's public name: ``torch.nn.functional.linear``, ``torch.Tensor.add``."""
    name = _names.get(function)
    if name is None:
        resolved: str | None = None
        with contextlib.suppress(Exception):
            resolved = resolve_name(function)
        if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            resolved = f"torch.ops.{function}".removesuffix(".default")
        told = str(resolved or getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function)))
        if resolved is None and str(getattr(function, "__module__", "")).startswith("torch.distributed"):
            told = f"torch.distributed.{told}"
        name = _PUBLIC_NAMES.get(told.rpartition(".")[2], told).removesuffix(".__get__").replace("_VariableFunctionsClass.", "torch.")
        _names[function] = name
    return name


@functools.cache
def _dummies() -> dict[Callable[..., Any], Callable[..., Any]]:
    with contextlib.suppress(Exception):
        return dict(get_testing_overrides())
    return {}


# Where the table tells an overload that hardly anybody calls.
_CALLED = {
    **dict.fromkeys(("max", "min", "median", "nanmedian", "mode", "logsumexp"), ("input", "dim", "keepdim")),
    "permute": ("input", "dims"),
    "repeat_interleave": ("input", "repeats", "dim"),
}
_parameters: dict[Any, tuple[str, ...]] = {}


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of a torch function's parameters in order; builtins have theirs from torch's table of overridable functions."""
    names = _parameters.get(function)
    if names is None:
        names = _CALLED.get(getattr(function, "__name__", ""), ())
        for source in (function, _dummies().get(function)):
            with contextlib.suppress(Exception):
                if callable(source) and not names:  # dispatching wrappers have (*args, **kwargs), the table has the names
                    kinds = inspect.signature(source).parameters.values()
                    names = tuple(p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
        _parameters[function] = names
    return names


def calling_frame(frame: FrameType) -> FrameType:
    """The frame that called a torch function, past torch's own Python that hands calls on."""
    while frame.f_back is not None and _hands_on(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


_HAND_ON = ("torch/_ops.py", "torch/_library/custom_ops.py", "torch/functional.py", "torch/overrides.py")


@functools.cache
def _hands_on(filename: str) -> bool:
    return filename.replace(os.sep, "/").endswith(_HAND_ON)


@functools.cache
def torch_internal(filename: str) -> bool:
    """Does a torch-level call from that file belong to torch's own machinery, not to the user?"""
    root = str(torch.__file__).removesuffix("__init__.py")
    return filename.startswith(root) and filename[len(root) :].replace(os.sep, "/").startswith(_TORCH_INTERNALS)


def storage_of(tensor: torch.Tensor) -> tuple[int, torch.UntypedStorage | None, int]:
    """A key of the tensor's storage while that lives, the storage (the same object each time), its bytes; (0, None, -1) without one."""
    try:
        storage = tensor.untyped_storage()
        return storage._cdata, storage, storage.nbytes()
    except Exception:
        return 0, None, -1


def storage_bytes(tensor: torch.Tensor) -> int:
    """Bytes of the tensor's whole storage, -1 where it has no one storage."""
    try:
        return int(tensor.untyped_storage().nbytes())
    except Exception:
        return -1


def storage_key(tensor: torch.Tensor) -> int:
    """The same for tensors that share memory while they live; 0 for sparse and nested ones, which have no one storage."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except Exception:
        return 0


def written_operands(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that an aten op writes to, as its schema says; and running statistics, of which schemas say nothing."""
    arguments = func._schema.arguments
    normalises = writes_statistics(func)
    if not (func._schema.is_mutable or normalises):
        return []
    given = [*args, *(kwargs.get(argument.name) for argument in arguments[len(args) :])]
    training = normalises and any(value is True for argument, value in zip(arguments, given, strict=False) if argument.name in _TRAINING)
    written = [
        value
        for argument, value in zip(arguments, given, strict=False)
        if (argument.alias_info is not None and argument.alias_info.is_write) or (training and argument.name in _STATISTICS)
    ]
    return [t for value in written for t in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(t, torch.Tensor)]


_STATISTICS = ("running_mean", "running_var")
_TRAINING = ("training", "train", "use_input_stats")


@functools.cache
def writes_statistics(func: Any) -> bool:
    """Does an aten op write to running statistics when it is training?"""
    return "backward" not in func._schema.name and any(argument.name == "running_mean" for argument in func._schema.arguments)


def asks_device(func: Any) -> bool:
    """Does an aten op ask a fake for its device? C++ asks where an exception would end the process: nothing may go wrong there."""
    return func is torch.ops.prim.device.default


@functools.cache
def has_foreign_fake(func: Any) -> bool:
    """Does an aten op's shape-level kernel come from somebody else than torch?"""
    if func.namespace == "aten":
        return False
    with contextlib.suppress(Exception):
        return torch._library.simple_registry.singleton.find(func._schema.name).fake_impl.kernel is not None
    return False


def gives_quantised(func: Any) -> bool:
    """Does an aten op quantise a tensor? The shape level has no such tensors, and torch's kernels there give float32 in their place."""
    return func.namespace == "aten" and str(func._schema.name).startswith("aten::quantize_per_")


def counts_entries(func: Any) -> bool:
    """Does what an aten op gives depend on how many entries a sparse tensor has?"""
    name = str(func._schema.name)
    return name.startswith("aten::") and (name[6:] in _COUNTING or name[7:] in _COUNTING)


@functools.cache
def is_missing(device: torch.device) -> bool:
    """Is no device of that type at hand? A fake may be there all the same, but autograd ends the process when it meets it as a leaf."""
    if device.type in ("cpu", "meta"):
        return False
    try:
        with real_execution(), no_function_modes():
            torch.empty(0, device=device.type)
    except Exception:
        return True
    return False


def real_execution() -> contextlib.AbstractContextManager[Any]:
    """Ops inside run for real, whatever dispatch modes are active."""
    return torch._C._DisableTorchDispatch()


def no_function_modes() -> contextlib.AbstractContextManager[Any]:
    """Torch functions called inside reach neither our modes nor the user's."""
    return torch._C.DisableTorchFunction()


def unwrapped(model: Any) -> Any:
    """What torch.compile or a data-parallel wrapper holds; anything else as it is."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__module__.startswith("torch.nn.parallel"):
            inner = getattr(model, "module", None)
        if inner is None and not isinstance(model, nn.Module):
            inner = getattr(model, "_torchdynamo_orig_callable", None)
        if not callable(inner):
            return model
        model = inner


def is_compiled(model: Any) -> bool:
    """Has torch.compile made this module or function into one that compiles when it is called?"""
    if isinstance(model, nn.Module):
        return original_of(model) is not model or getattr(model, "_compiled_call_impl", None) is not None
    return hasattr(model, "_torchdynamo_orig_callable")


def uncompiled_call(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a module that was compiled in place, as it would be without."""
    return module._call_impl(*args, **kwargs)  # type: ignore[no-untyped-call]  # torch has no types there


def is_sharded(module: nn.Module) -> bool:
    """Does FSDP gather this module's parameters when it is called?"""
    fsdp = sys.modules.get("torch.distributed.fsdp")
    kinds = tuple(kind for name in ("FullyShardedDataParallel", "FSDPModule") if (kind := getattr(fsdp, name, None)) is not None)
    return isinstance(module, kinds)


def is_scripted(module: nn.Module) -> bool:
    """Is this TorchScript, scripted or traced?"""
    return isinstance(module, torch.jit.ScriptModule)


def original_of(module: nn.Module) -> nn.Module:
    """The module that torch.compile wrapped; any other one itself."""
    held = vars(module).get("_modules")  # asked of every call: a module's own __getattr__ is slow to say no
    inner = held.get("_orig_mod") if isinstance(held, dict) else None  # TorchScript has a table of its own
    return inner if isinstance(inner, nn.Module) else module


def is_lazy(tensor: torch.Tensor) -> bool:
    """Is this a parameter that lazy modules have not materialised yet?"""
    return bool(torch.nn.parameter.is_lazy(tensor))


def bits_differ(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Do two tensors of one shape and dtype differ in any bit? (NaN equals itself; where bits can't be had, yes.)"""
    try:
        return not torch.equal(left.detach().reshape(-1).view(torch.uint8), right.detach().reshape(-1).view(torch.uint8))
    except Exception:
        return True


def same_memory(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Are two tensors the same window on the same storage? (What has no one storage counts as the same.)"""
    if left.layout is not torch.strided or left.is_nested:
        return True
    forms = [(t.shape, t.stride(), t.storage_offset(), storage_key(t)) for t in (left, right)]
    return forms[0] == forms[1]


_AUTOCAST_DEVICES = ("cpu", "cuda")


def autocast_state() -> tuple[Any, ...]:
    """The calling thread's autocast: per device whether and to which dtype, and whether casts are cached."""
    devices = [(device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in _AUTOCAST_DEVICES]
    return torch.is_autocast_cache_enabled(), devices


def set_autocast_state(state: tuple[Any, ...]) -> None:
    """Puts back what ``autocast_state`` gave."""
    if state == autocast_state():
        return
    cached, devices = state
    torch.set_autocast_cache_enabled(cached)
    for device, enabled, dtype in devices:
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)


def with_contents(fake: torch.Tensor, real: torch.Tensor) -> None:
    """A fake of a single number remembers what the real one holds, as one does that code makes of a number: reads of it need no run."""
    with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
        fake.constant = real.detach().clone()  # type: ignore[attr-defined]  # of FakeTensor
    fake.fake_mode.fake_tensor_converter.add_constant_storage_mapping(fake)  # type: ignore[attr-defined]


def drop_casts() -> None:
    """Autocast keeps no cast of a parameter from before; it makes those that are needed anew."""
    if any(enabled for _, enabled, _ in autocast_state()[1]):
        torch.clear_autocast_cache()


@contextlib.contextmanager
def without_autocast() -> Iterator[None]:
    """As behind an autocast region: nothing is cast inside, and no cast is kept from before."""
    before = autocast_state()
    if not any(enabled for _, enabled, _ in before[1]):
        yield
        return
    drop_casts()
    set_autocast_state((before[0], [(device, False, dtype) for device, _, dtype in before[1]]))
    try:
        yield
    finally:
        set_autocast_state(before)
