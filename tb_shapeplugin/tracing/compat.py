"""Every private or third-party name that tracing touches, in one place. Tried with torch 2.4 to 2.13."""

import contextlib
import functools
import inspect
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import get_testing_overrides, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["FakeTensor", "FakeTensorMode", "TorchDispatchMode", "fresh_fake_mode"]

# Functions that torch hands to function modes under a private name.
_PUBLIC_NAMES = {
    "_pack_padded_sequence": "torch.nn.utils.rnn.pack_padded_sequence",
    "_pad_packed_sequence": "torch.nn.utils.rnn.pad_packed_sequence",
}

# Raised by shape-level kernels where a result depends on values; told by name, as they are private and move.
_VALUE_READS = {
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "UnsupportedOperatorException",
    "UnsupportedFakeTensorException",
}

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
    "nn/init.py",  # lazy modules fill themselves inside a forward
    "nn/parameter.py",
    "nn/modules/lazy.py",
)


def fresh_fake_mode() -> FakeTensorMode:
    """A fake mode for one twin: closures and globals that stayed real are let in."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def fake_of(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """The fake of a tensor, with fixed sizes; the same tensor gives the same fake, views share their storage."""
    if isinstance(tensor, FakeTensor):
        return tensor
    return mode.from_tensor(tensor, static_shapes=True)


def is_value_read(error: BaseException) -> bool:
    """Did shape-level execution end because it met a read of values, or an op that has no shape-level kernel?"""
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in _VALUE_READS or "data is not allocated yet" in str(seen):
            return True
        text = str(seen)
        if "FakeTensor" in text and ("numpy" in text or "tolist" in text or "not supported" in text or "NYI" in text):
            return True
        seen = seen.__cause__
    return False


class _Swap:
    """An attribute that has another value while captures last: the first one swaps it, the last one swaps it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: Any = None

    @contextlib.contextmanager
    def __call__(self, owner: Any, name: str, replacement: Callable[[Any], Any]) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._before = getattr(owner, name)
                setattr(owner, name, replacement(self._before))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    setattr(owner, name, self._before)


_log_swap, _probe_swap = _Swap(), _Swap()
_hiding = threading.local()


def quiet_fakes() -> contextlib.AbstractContextManager[None]:
    """Silences the log in which every failing shape-level kernel writes a traceback."""
    return _log_swap(logging.getLogger("torch._subclasses.fake_tensor"), "disabled", lambda _: True)


@contextlib.contextmanager
def hidden_fakes() -> Iterator[None]:
    """Keeps libraries from taking other branches because they notice fakes: in this thread their probes say no meanwhile."""
    probes = sys.modules.get("transformers.utils.import_utils")
    if not hasattr(probes, "is_fake_tensor"):
        yield
        return
    before = getattr(_hiding, "on", False)
    _hiding.on = True
    try:
        with _probe_swap(probes, "is_fake_tensor", lambda probe: lambda value: not getattr(_hiding, "on", False) and probe(value)):
            yield
    finally:
        _hiding.on = before


_names: dict[Any, str] = {}  # Any: torch functions are of many types, all hashable


def op_name(function: Callable[..., Any]) -> str:
    """A torch function's public name: ``torch.nn.functional.linear``, ``torch.Tensor.add``."""
    name = _names.get(function)
    if name is None:
        resolved: str | None = None
        with contextlib.suppress(Exception):
            resolved = resolve_name(function)
        told = str(resolved or getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function)))
        name = _PUBLIC_NAMES.get(told.rpartition(".")[2], told).removesuffix(".__get__")
        _names[function] = name
    return name


@functools.cache
def _dummies() -> dict[Callable[..., Any], Callable[..., Any]]:
    with contextlib.suppress(Exception):
        return dict(get_testing_overrides())
    return {}


_parameters: dict[Any, tuple[str, ...]] = {}


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of a torch function's parameters in order; builtins have theirs from torch's table of overridable functions."""
    names = _parameters.get(function)
    if names is None:
        names = ()
        for source in (function, _dummies().get(function)):
            with contextlib.suppress(Exception):
                if callable(source) and not names:  # dispatching wrappers have (*args, **kwargs), the table has the names
                    kinds = inspect.signature(source).parameters.values()
                    names = tuple(p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
        _parameters[function] = names
    return names


@functools.cache
def torch_internal(filename: str) -> bool:
    """Does a torch-level call from that file belong to torch's own machinery, not to the user?"""
    root = str(torch.__file__).removesuffix("__init__.py")
    return filename.startswith(root) and filename[len(root) :].replace(os.sep, "/").startswith(_TORCH_INTERNALS)


def storage_of(tensor: torch.Tensor) -> tuple[int, StorageWeakRef | None]:
    """A key of the tensor's storage, with a weak reference that keeps the key from being used again; (0, None) without one."""
    try:
        reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]  # torch has no types there
    except Exception:
        return 0, None
    return reference.cdata, reference


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
    """The tensors that an aten op writes to, as its schema says."""
    if not func._schema.is_mutable:
        return []
    arguments = func._schema.arguments
    given = [*args, *(kwargs.get(argument.name) for argument in arguments[len(args) :])]
    written = [
        value for argument, value in zip(arguments, given, strict=False) if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return [t for value in written for t in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(t, torch.Tensor)]


def real_execution() -> contextlib.AbstractContextManager[Any]:
    """Ops inside run for real, whatever dispatch modes are active."""
    return torch._C._DisableTorchDispatch()


def no_function_modes() -> contextlib.AbstractContextManager[Any]:
    """Torch functions called inside reach neither our modes nor the user's."""
    return torch._C.DisableTorchFunction()


def unwrapped(model: Any) -> Any:
    """The module that torch.compile or a data-parallel wrapper holds; anything else as it is."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__module__.startswith("torch.nn.parallel"):
            inner = getattr(model, "module", None)
        if not isinstance(inner, nn.Module):
            return model
        model = inner


def original_of(module: nn.Module) -> nn.Module:
    """The module that torch.compile wrapped; any other one itself."""
    inner = getattr(module, "_orig_mod", None)
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
