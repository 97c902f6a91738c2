"""Applies machine-readable changes to a copy of a model, so that a fix can be tried before anyone is told of it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.tracing.bookmarks import Undo
from tb_shapeplugin.tracing.compat import is_missing, op_name
from tb_shapeplugin.tracing.inputs import bound_names
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.subject import Subject

Change = Mapping[str, Any]  # Any: values are of the type of what they replace

_UNARY = ("unsqueeze", "squeeze", "argmax")
_NO_ARGUMENTS = ("self", "device", "dtype", "args", "kwargs")
_RNN_ARGUMENTS = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")


class CannotApply(Exception):
    """A change whose target isn't there, or that its target doesn't take."""


def applied(changes: Sequence[Change], subject: Subject) -> Subject:
    """The subject with its layers, attributes and arguments changed, in place; calls are changed by ``ChangedCalls``.

    Forms of a change, where ``path`` is a dotted module path (in a plain function it begins with the argument's name) and OP one of
    ``operate``:

    - ``{"module": path, "arg": name, "value": v}``: the layer rebuilt with one constructor argument changed
    - ``{"module": path, "attr": name, "value": v}``: a plain attribute set
    - ``{"module": path, "to": dtype or device}``: the module moved
    - ``{"module": path, "param": name, "shape": [..]}``: a parameter or buffer of that shape in its place
    - ``{"input": position or name, "op": OP, ...}``: an argument of the model changed
    - ``{"insert": OP, "before" or "after": path, ...}``: the first argument, or the output, of that module changed
    - ``{"call": name, "module": path, "index": n, ...}``: one call of a torch function changed

    Raises:
        CannotApply: a target isn't there, or doesn't take the change.
    """
    for change in changes:
        try:
            subject = _applied(change, subject)
        except CannotApply:
            raise
        except Exception as error:
            raise CannotApply(f"{dict(change)}: {type(error).__name__}: {error}") from error
    return subject


def _applied(change: Change, subject: Subject) -> Subject:
    if "input" in change:
        return _changed_input(change, subject)
    if "call" in change:
        _check_module(change, subject.model)
        return subject
    if not isinstance(subject.model, nn.Module):
        return _changed_among_arguments(change, subject)
    return replace(subject, model=_changed_tree(change, subject.model))


def _changed_tree(change: Change, model: nn.Module) -> nn.Module:
    if "insert" in change:
        _insert(change, model)
    elif "arg" in change:
        return _changed_layer(change, model)
    else:
        _change_module(change, model)
    return model


def _changed_among_arguments(change: Change, subject: Subject) -> Subject:
    """A plain function's layers are those that it is given: the first part of a path is the argument's name."""
    given = {name: value for name, value in bound_names(subject.model, subject.args, subject.kwargs) if isinstance(value, nn.Module)}
    if not given:
        raise CannotApply("the model is a plain function, it has no layers of its own")
    holder = nn.Module()
    holder._modules.update(given)
    _changed_tree(change, holder)
    new = {id(given[name]): layer for name, layer in holder._modules.items() if name in given}
    args = tuple(new.get(id(value), value) for value in subject.args)
    return replace(subject, args=args, kwargs={name: new.get(id(value), value) for name, value in subject.kwargs.items()})


def operate(value: Any, change: Change, operation: str) -> Any:
    """One operation on one tensor, or ``item`` of a tuple.

    ``unsqueeze``, ``squeeze``, ``argmax`` (dim), ``transpose``, ``flatten`` (dims), ``permute`` (dims), ``reshape`` (shape), ``expand``
    (sizes), ``select`` (dim, index), ``narrow`` (dim, start, length), ``repeat_interleave`` (dim, repeats), ``pad`` (pad),
    ``pad_to`` (dim, to), ``interpolate`` (size), ``contiguous``, ``to`` (dtype or device), ``item`` (index).
    """
    if operation == "item":
        return value[change["index"]]
    if not isinstance(value, torch.Tensor):
        raise CannotApply(f"{operation} of a {type(value).__name__}")
    if operation in _UNARY:
        return getattr(value, operation)(change["dim"])
    known: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "transpose": lambda x: x.transpose(*change["dims"]),
        "flatten": lambda x: x.flatten(*change["dims"]),
        "permute": lambda x: x.permute(change["dims"]),
        "reshape": lambda x: x.reshape(change["shape"]),
        "expand": lambda x: x.expand(change["sizes"]),
        "select": lambda x: x.select(change["dim"], change["index"]),
        "narrow": lambda x: x.narrow(change["dim"], change.get("start", 0), change["length"]),
        "repeat_interleave": lambda x: x.repeat_interleave(change["repeats"], change["dim"]),
        "pad": lambda x: nn.functional.pad(x, change["pad"]),
        "pad_to": lambda x: _padded_to(x, change["dim"], change["to"]),
        "interpolate": lambda x: nn.functional.interpolate(x, size=change["size"]),
        "contiguous": lambda x: x.contiguous(),
        "to": lambda x: x.to(getattr(torch, change["dtype"])) if "dtype" in change else x.to(change["device"]),
    }
    if operation not in known:
        raise CannotApply(f"there is no operation {operation!r}")
    return known[operation](value)


def _padded_to(value: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    return nn.functional.pad(value, [0, 0] * (value.dim() - 1 - dim % value.dim()) + [0, size - value.shape[dim]])


def _check_module(change: Change, model: Any) -> None:
    """CannotApply where a call's module isn't registered; in a plain function every call counts as its own."""
    if isinstance(model, nn.Module):
        _module(model, change["module"])
    elif change["module"]:
        raise CannotApply(f"the model is a plain function, it has no module {change['module']!r}")


def _changed_input(change: Change, subject: Subject) -> Subject:
    key = change["input"]
    if isinstance(key, str) and key not in subject.kwargs:
        key = list(inspect.signature(getattr(subject.model, "forward", subject.model)).parameters).index(key)
    if isinstance(key, str):
        return replace(subject, kwargs={**subject.kwargs, key: operate(subject.kwargs[key], change, change["op"])})
    if key >= len(subject.args):
        raise CannotApply(f"the model was given {len(subject.args)} arguments, there is no number {key}")
    changed = operate(subject.args[key], change, change["op"])
    return replace(subject, args=tuple(changed if i == key else a for i, a in enumerate(subject.args)))


def _module(model: nn.Module, path: str) -> nn.Module:
    return model.get_submodule(path) if path else model


def _change_module(change: Change, model: nn.Module) -> None:
    target = _module(model, change["module"])
    if "attr" in change:
        if callable(change["value"]) or callable(getattr(target, change["attr"], None)):
            raise CannotApply(f"{change['attr']} is no plain attribute")
        setattr(target, change["attr"], change["value"])
    elif "to" in change:
        dtype = getattr(torch, str(change["to"]), None)
        _move(target, dtype=dtype) if isinstance(dtype, torch.dtype) else _move(target, device=torch.device(change["to"]))
    elif "param" in change:
        old = getattr(target, change["param"])
        new = torch.zeros(change["shape"], dtype=old.dtype, device=old.device)
        is_parameter = isinstance(old, nn.Parameter)
        setattr(target, change["param"], nn.Parameter(new, requires_grad=old.requires_grad) if is_parameter else new)
    else:
        raise CannotApply(f"unknown form {sorted(change)}")


def _changed_layer(change: Change, model: nn.Module) -> nn.Module:
    if not change["module"]:
        return rebuilt(model, change["arg"], change["value"])
    old = model.get_submodule(change["module"])
    new = rebuilt(old, change["arg"], change["value"])
    for module in list(model.modules()):
        for name, child in list(module._modules.items()):
            if child is old:
                setattr(module, name, new)
    return model


def rebuilt(layer: nn.Module, argument: str, value: Any) -> nn.Module:
    """The same layer made anew, one argument of its constructor changed.

    Raises:
        CannotApply: its constructor has no such argument.
    """
    names = [name for name in inspect.signature(type(layer).__init__).parameters if name not in _NO_ARGUMENTS]
    if isinstance(layer, nn.RNNBase):
        names = [*_RNN_ARGUMENTS, *(["proj_size"] if isinstance(layer, nn.LSTM) else [])]
    if argument not in names:
        raise CannotApply(f"{type(layer).__name__} has no argument {argument!r}")
    given = {name: getattr(layer, name) for name in names if hasattr(layer, name)}
    if "bias" in given:
        given["bias"] = given["bias"] is not None and given["bias"] is not False
    if isinstance(layer, nn.MultiheadAttention):
        given.update(bias=layer.in_proj_bias is not None, add_bias_kv=layer.bias_k is not None)
        if argument == "embed_dim":  # they follow embed_dim unless they were given
            given = {name: old for name, old in given.items() if name not in ("kdim", "vdim")}
    new: nn.Module = type(layer)(**{**given, argument: value})
    new.train(layer.training)
    first = next(layer.parameters(), None)
    if first is not None:
        _move(new, first.device, first.dtype)
    return new


def _move(layer: nn.Module, device: torch.device | None = None, dtype: torch.dtype | None = None) -> None:
    """``layer.to``, but with new tensors: torch's own swaps their contents, which fakes resist."""
    for module in layer.modules():
        for tensors in (module._parameters, module._buffers):
            for name, old in list(tensors.items()):
                if old is None:
                    continue
                moved = old.detach().to(device or old.device, dtype if dtype and old.is_floating_point() else old.dtype)
                if moved.dtype != old.dtype or moved.device != old.device:
                    requires_grad = old.requires_grad and not is_missing(moved.device)
                    setattr(module, name, nn.Parameter(moved, requires_grad) if isinstance(old, nn.Parameter) else moved)


def _insert(change: Change, model: nn.Module) -> None:
    def before(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if args:
            return (operate(args[0], change, change["insert"]), *args[1:]), kwargs
        name = next(iter(kwargs))
        return args, {**kwargs, name: operate(kwargs[name], change, change["insert"])}

    def after(_module: nn.Module, _args: Any, output: Any) -> Any:
        return operate(output, change, change["insert"])

    if "before" in change:
        _module(model, change["before"]).register_forward_pre_hook(before, with_kwargs=True)
    else:
        _module(model, change["after"]).register_forward_hook(after)


class ChangedCalls(TorchFunctionMode):
    """Changes single calls of torch functions on their way to the recorder."""

    def __init__(self, changes: Sequence[Change], modules: ModuleBook, *, flat: bool = False) -> None:
        super().__init__()
        self._flat = flat  # of a plain function: calls inside modules count as its own
        self._changes = [change for change in changes if "call" in change]
        self._modules = modules
        self._seen: dict[tuple[str, str], int] = {}
        self._came: list[tuple[str, str]] = []
        self._hit: set[int] = set()

    def bookmark(self) -> Undo:
        """What takes back the count of the calls that come from here on."""
        size = len(self._came)

        def undo() -> None:
            for where in self._came[size:]:
                self._seen[where] -= 1
            del self._came[size:]

        return undo

    @property
    def all_came(self) -> bool:
        """Did every call that is to be changed come?"""
        return len(self._hit) == len(self._changes)

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = dict(kwargs or {})
        path = "" if self._flat else self._modules.path(self._modules.current_module)
        where = (path, op_name(func).rpartition(".")[2])
        index = self._seen[where] = self._seen.get(where, -1) + 1
        self._came.append(where)
        for number, change in enumerate(self._changes):
            if (change["module"], change["call"]) == where and change.get("index", 0) == index:
                self._hit.add(number)
                args, kwargs = _changed_call(change, where[1], args, kwargs)
        return func(*args, **kwargs)


def _changed_call(change: Change, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if "arguments" in change:
        return (args[0], *change["arguments"]), {}
    if "operand" in change:
        position = change["operand"]
        nested = isinstance(args[0], (list, tuple)) and name in ("cat", "stack", "concat")
        operands = list(args[0] if nested else args)
        operands[position] = operate(operands[position], change, change["op"])
        return ((operands, *args[1:]) if nested else tuple(operands)), kwargs
    argument = change["argument"]
    if isinstance(argument, str):
        return args, {**kwargs, argument: change["value"]}
    if argument >= len(args):
        raise CannotApply(f"{name} was called with {len(args)} arguments, there is no number {argument}")
    return tuple(change["value"] if i == argument else a for i, a in enumerate(args)), kwargs
