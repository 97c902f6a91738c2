"""An independent photograph of a model, its arguments and the process: what must be equal before and after a capture."""

import logging
import random
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import nn

_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)


@dataclass
class Picture:
    """Every reachable attribute by its path; ``alive`` keeps identities from being used again."""

    facts: dict[str, Any]
    alive: list[Any] = field(repr=False)

    def differences(self, other: "Picture") -> list[str]:
        """Paths at which the two are not the same."""
        return sorted(path for path in {**self.facts, **other.facts} if self.facts.get(path) != other.facts.get(path))


def picture(*roots: Any) -> Picture:
    """Everything that can be reached: modules, tensors with their bytes and gradients, containers, objects, closures of hooks."""
    facts: dict[str, Any] = {}
    alive: list[Any] = []
    met: set[int] = set()
    waiting = [(f"root{place}", root) for place, root in enumerate(roots)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _PLAIN):
            facts[path] = (type(value).__name__, repr(value))
            continue
        facts[path] = (id(value), id(type(value)))
        alive.append(value)
        if id(value) in met:
            continue
        met.add(id(value))
        facts[f"{path} content"] = _content(value)
        waiting += [(path + label, item) for label, item in _parts(value)]
    return Picture(facts, alive)


def _content(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, torch.Generator):
        return value.get_state().numpy().tobytes()
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, Mapping):
        return list(map(str, value))
    return len(value) if isinstance(value, (list, tuple, set)) else None


def _tensor(tensor: torch.Tensor) -> Any:
    if isinstance(tensor, nn.parameter.UninitializedTensorMixin):
        return "uninitialised"
    if tensor.is_nested or tensor.layout is not torch.strided:
        return str(tensor.layout), tensor.requires_grad, [_tensor(part) for part in _held(tensor)]
    held = [value for value in vars(tensor).values() if isinstance(value, torch.Tensor)] if hasattr(tensor, "__dict__") else []
    size = (str(tensor.dtype), tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
    if tensor.is_meta or held:  # a subclass that keeps its content in other tensors
        return *size, [_tensor(part) for part in held]
    if tensor.is_quantized:
        return *size, _tensor(tensor.int_repr())[-1]
    tensor = tensor.detach().as_subclass(torch.Tensor)
    flat = tensor.resolve_conj().resolve_neg().reshape(-1).contiguous()
    return *size, tensor.data_ptr(), flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def _held(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors of which a nested or sparse one consists."""
    if tensor.is_nested:
        return tensor.unbind()
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values()
    by_rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    return (*((tensor.crow_indices(), tensor.col_indices()) if by_rows else (tensor.ccol_indices(), tensor.row_indices())), tensor.values())


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [(".grad", value.grad)] if value.is_leaf else []
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [(f"[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, MethodType):
        return [(".__self__", value.__self__)]
    if isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        return [(f".<{name}>", cell.cell_contents) for name, cell in cells if cell != CellType()]  # some are never filled
    if isinstance(value, type):
        return []
    return [(f".{name}", item) for name, item in vars(value).items()] if hasattr(value, "__dict__") else []


def process_picture() -> Picture:
    """The process's own state."""
    probes = sys.modules.get("transformers.utils.import_utils")
    facts = {
        "python's random numbers": random.getstate(),
        "torch's random numbers": torch.random.get_rng_state().numpy().tobytes(),
        "numpy's random numbers": str(np.random.get_state(legacy=False)),  # noqa: NPY002  the global generator is what is meant
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warnings' filters": (id(warnings.filters), list(warnings.filters)),
        "nn.Module.__call__": nn.Module.__call__,
        "modes": (torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()),
        "log of fakes": logging.getLogger("torch._subclasses.fake_tensor").disabled,
        "recursion limit": sys.getrecursionlimit(),
        "trace function": sys.gettrace(),
        "probe for fakes": getattr(probes, "is_fake_tensor", None),
    }
    return Picture(facts, [])
