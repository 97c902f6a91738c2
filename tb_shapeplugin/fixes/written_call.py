"""A call as the user wrote it: which numbers stand where among its arguments, and the same call with other numbers there."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tb_shapeplugin.analyse.origins.recalled import recalled
from tb_shapeplugin.fixes.situation import Change, Situation
from tb_shapeplugin.fixes.written_code import calls_of
from tb_shapeplugin.record.trace import OpFact
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_AXIS_NAMES = frozenset(("dim", "dims", "axis", "start_dim", "end_dim", "dim0", "dim1", "axis0", "axis1", "source", "destination"))
_REDUCING = ("sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "prod", "std", "var", "norm", "logsumexp", "any", "all")
_ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "cat", "concat", "stack", "unbind", "select", "narrow", "index_select", "gather")
_BY_INDEX = ("index_add", "index_copy", "index_fill", "index_reduce", "scatter", "scatter_add", "scatter_reduce")
_AXIS_POSITIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*_REDUCING, *_ALONG, *_BY_INDEX, *(f"{name}_" for name in _BY_INDEX), "unsqueeze", "squeeze", "flip"), (1,)),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims", "flatten", "movedim", "moveaxis"), (1, 2)),
    **dict.fromkeys(("chunk", "split", "tensor_split", "roll", "repeat_interleave"), (2,)),
}
_ORDERING = ("permute",)
_LONGEST_TEXT = 60  # characters of a call that is told with its arguments as they stand in the code


@dataclass(frozen=True, slots=True)
class Number:
    """An int among the arguments of a call, and where it stands there."""

    key: int | str  # position, 0 being the tensor itself for a method, or name
    place: int  # within a list of ints, -1 for an argument by itself
    value: int
    is_axis: bool  # does it name an axis, rather than a size or a count?


@dataclass(frozen=True)
class WrittenCall:
    """A call of the trace with its arguments at the positions and under the names that the user gave them."""

    op: OpFact
    call: OpCall
    node: ast.Call | None  # in the code, None where it can't be told

    def numbers(self) -> tuple[Number, ...]:
        """Every int among its arguments.

        Example:
            >>> [number.value for number in as_written(situation, op).numbers()]  # of x.transpose(1, 2)
            [1, 2]
        """
        found = [number for key, value in self._arguments() for number in self._numbers_in(key, value)]
        return tuple(found)

    def with_numbers(self, values: Mapping[Number, int]) -> OpCall:
        """The call with other numbers in those places."""
        args, kwargs = list(self.call.args), dict(self.call.kwargs)
        for number, new in values.items():
            holder: list[Value] | dict[str, Value] = args if isinstance(number.key, int) else kwargs
            old = holder[number.key]  # type: ignore[index]  # a position of the list, a name of the dict
            holder[number.key] = (*old[: number.place], new, *old[number.place + 1 :]) if isinstance(old, tuple) else new  # type: ignore[index]
        return OpCall(self.call.name, tuple(args), kwargs)

    def changes(self, situation: Situation, values: Mapping[Number, int]) -> tuple[Change, ...]:
        """The change of each argument in which one of those numbers stands."""
        after = self.with_numbers(values)
        keys = dict.fromkeys(number.key for number in values)
        given = {key: after.args[key] if isinstance(key, int) else after.kwargs[key] for key in keys}
        return tuple(
            situation.call_change(self.op, argument=key, value=list(value) if isinstance(value, tuple) else value)
            for key, value in given.items()
        )

    def text(self, values: Mapping[Number, int]) -> str:
        """The call with those numbers, as it would stand in the code: ``view(b, t, 4, 8)``."""
        name = self.call.short_name
        if self.node is not None:
            told = f"{name}({', '.join(_arguments_text(self.node, self.offset, values))})"
            if len(told) <= _LONGEST_TEXT:
                return told
        named = (f"{number.key}=" if isinstance(number.key, str) else "" for number in values)
        return f"{name}(…, {', '.join(f'{label}{new}' for label, new in zip(named, values.values(), strict=True))})"

    @property
    def offset(self) -> int:
        """How many positions the code's own arguments are behind the call's: 1 for a method."""
        return int(self.call.name.startswith("torch.Tensor."))

    def is_literal(self, number: Number) -> bool:
        """Is the number spelled out in the code, rather than computed or read off a tensor?"""
        node = self._node_of(number)
        return node is not None and _literal(node) == number.value

    def _node_of(self, number: Number) -> ast.expr | None:
        if self.node is None:
            return None
        if isinstance(number.key, str):
            node = next((keyword.value for keyword in self.node.keywords if keyword.arg == number.key), None)
        else:
            at = number.key - self.offset
            node = self.node.args[at] if 0 <= at < len(self.node.args) else None
        if isinstance(node, (ast.Tuple, ast.List)) and number.place >= 0:
            return node.elts[number.place] if number.place < len(node.elts) else None
        return node

    def _arguments(self) -> Iterator[tuple[int | str, Value]]:
        yield from ((at, value) for at, value in enumerate(self.call.args) if at)
        yield from self.call.kwargs.items()

    def _numbers_in(self, key: int | str, value: Value) -> Iterator[Number]:
        if isinstance(value, int) and not isinstance(value, bool):
            yield Number(key, -1, value, self._is_axis(key))
        elif isinstance(value, tuple) and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            for place, item in enumerate(value):
                assert isinstance(item, int)
                yield Number(key, place, item, self._is_axis(key))

    def _is_axis(self, key: int | str) -> bool:
        name = self.call.short_name
        return name in _ORDERING or (key in _AXIS_NAMES if isinstance(key, str) else key in _AXIS_POSITIONS.get(name, ()))


def as_written(situation: Situation, op: OpFact) -> WrittenCall | None:
    """The call that an op was, as the user wrote it; None where the code doesn't tell which argument stands where."""
    code = situation.trace.sources[op.source].code if op.source >= 0 else ""
    nodes = calls_of(code, op.name.rpartition(".")[2])
    if op is situation.op:
        fitting = [node for node in nodes if _has_its_form(node, situation.call)]
        return WrittenCall(op, situation.call, max(fitting, key=lambda node: _agreement(node, situation.call), default=None))
    placed = ((node, _placed(node, op, recalled(op, situation.trace))) for node in nodes)
    written = [WrittenCall(op, call, node) for node, call in placed if call is not None and _has_its_form(node, call)]
    return max(written, key=lambda one: _agreement(one.node, one.call) if one.node else 0, default=None)


def first_shape(call: OpCall) -> Shape | None:
    """The shape of the tensor that a call is about: its first argument, or the first of a list of them."""
    first = call.args[0] if call.args else call.kwargs.get("input", call.kwargs.get("tensors"))
    if isinstance(first, tuple) and first:
        first = first[0]
    return first.shape if isinstance(first, Operand) else None


def _placed(node: ast.Call, op: OpFact, call: OpCall) -> OpCall | None:
    """The recalled call, whose arguments have names, with each at the position at which the code has it."""
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(keyword.arg is None for keyword in node.keywords):
        return None
    values: list[Value] = [*call.args, *call.kwargs.values()]
    positional = len(node.args) + int(op.name.startswith("torch.Tensor."))
    spread = positional - (len(values) - len(node.keywords))
    if spread:
        last = values[positional - spread - 1] if 0 < positional - spread <= len(values) else None
        if not isinstance(last, tuple) or len(last) != spread + 1:
            return None
        values[positional - spread - 1 : positional - spread] = last
    names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
    return OpCall(op.name, tuple(values[:positional]), dict(zip(names, values[positional:], strict=True)))


def _has_its_form(node: ast.Call, call: OpCall) -> bool:
    """Does the call in the code take as many arguments by position, and those by name?"""
    offset = int(call.name.startswith("torch.Tensor."))
    return len(node.args) + offset == len(call.args) and {keyword.arg for keyword in node.keywords} == set(call.kwargs)


def _agreement(node: ast.Call, call: OpCall) -> int:
    """How many of the arguments that the code spells out are what was given: of two calls in a statement the likelier one has more."""
    offset = int(call.name.startswith("torch.Tensor."))
    pairs = [*zip(node.args, call.args[offset:], strict=True), *((k.value, call.kwargs[str(k.arg)]) for k in node.keywords)]
    return sum((literal == value) - (literal != value) for argument, value in pairs if (literal := _literal(argument)) is not None)


def _literal(node: ast.expr) -> Value:
    """An int, or a list of ints, that is spelled out; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    if isinstance(value, list):
        value = tuple(value)
    return value if isinstance(value, (int, tuple)) else None


def _arguments_text(node: ast.Call, offset: int, values: Mapping[Number, int]) -> Iterator[str]:
    for at, argument in enumerate(node.args):
        yield _argument_text(argument, {number.place: new for number, new in values.items() if number.key == at + offset})
    for keyword in node.keywords:
        told = _argument_text(keyword.value, {number.place: new for number, new in values.items() if number.key == keyword.arg})
        yield f"{keyword.arg}={told}"


def _argument_text(node: ast.expr, new: Mapping[int, int]) -> str:
    if not new:
        return ast.unparse(node)
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [str(new.get(place, ast.unparse(item))) for place, item in enumerate(node.elts)]
        opening, closing = "()" if isinstance(node, ast.Tuple) else "[]"
        return f"{opening}{', '.join(items)}{closing}"
    return str(next(iter(new.values())))
