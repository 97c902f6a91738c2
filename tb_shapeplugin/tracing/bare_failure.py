"""The failure of an exception that no re-run shows: what its frames know of the call, after the graph of what does run."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from tb_shapeplugin.record.trace import Failure, OpFact, SourceFact, Trace, nothing_known
from tb_shapeplugin.record.values import OpCall, Operand
from tb_shapeplugin.tracing.arguments import leaves, op_call, tensors_in
from tb_shapeplugin.tracing.compat import op_name
from tb_shapeplugin.tracing.crash_program import Fragment
from tb_shapeplugin.tracing.lookups import Unresolvable, only_computes, parameters_of, value_of
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.postmortem import Crash, nowhere
from tb_shapeplugin.tracing.python_failures import CALL, ERROR, RAISE, python_failure
from tb_shapeplugin.tracing.source import error_text
from tb_shapeplugin.tracing.statements import failing_parts, statement_of
from tb_shapeplugin.tracing.tensors import TensorBook, shape_of

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_divide", ast.MatMult: "matmul",
    ast.Pow: "pow", ast.Mod: "remainder", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
}  # fmt: skip
_RAGGED = re.compile(r"equal size, but got \[([\d, ]*)\] at entry 0 and \[([\d, ]*)\] at entry \d+")
_MOST_ITEMS = 10_000  # of a data set, that are looked at


def bare_failure(crash: Crash, graph: Trace | None) -> Trace:
    """The trace that ends with the exception.

    Args:
        crash: the exception and its frames.
        graph: a run that went through, though the user's didn't; None where there is none.
    """
    if graph is not None and graph.completed:
        marked = _marked(crash, graph)
        return marked if marked is not None else _appended(crash, graph)
    return _appended(crash, None)


def _marked(crash: Crash, graph: Trace) -> Trace | None:
    """The run with its op at the exception's place as the one that failed; None where it has none there, or several that differ."""
    if isinstance(statement_of(crash.place) if crash.place else None, (ast.Raise, ast.Assert)):
        return None
    path, statement = crash.innermost_path(), crash.statement()
    found = [index for index, op in enumerate(graph.ops) if statement is not None and _is_at(graph, op, statement, path)]
    if not found or len({graph.ops[index].name for index in found}) > 1:
        return None
    at = found[0]
    op = graph.ops[at]
    module = graph.calls[op.call].module if op.call >= 0 else -1
    call = OpCall(op.name, tuple(_operand(graph, tensor) for tensor in op.inputs))
    later = (replace(further, assumed=True) for further in graph.ops[at + 1 :])
    return _ended(graph, crash, (*graph.ops[:at], replace(op, failed=True), *later), _failure(crash, at, call, module))


def _is_at(graph: Trace, op: OpFact, statement: SourceFact, path: str | None) -> bool:
    if op.source < 0 or _place(graph.sources[op.source]) != _place(statement):
        return False
    there = graph.modules[graph.calls[op.call].module].path if op.call >= 0 else None
    return path is None or there is None or there == path or graph.modules[0].config == "function"


def _place(source: SourceFact) -> tuple[str, int, int, int]:
    return source.file, source.line, source.column, source.end_column


def _operand(graph: Trace, tensor: int) -> Operand:
    fact = graph.tensors[tensor]
    return Operand(tensor, fact.shape, fact.dtype, "" if fact.device == "cpu" else fact.device, fact.kind, fact.name)


def _appended(crash: Crash, graph: Trace | None) -> Trace:
    """The failure as the last op, outside any module, with the operands that its frames still hold."""
    book = TensorBook()
    book.facts.extend(graph.tensors if graph is not None else ())
    if graph is None:
        modules = ModuleBook(Fragment(crash.function, (), {}), [("model", crash.model)], book).module_facts()
        graph = replace(nothing_known(crash.name, ()), modules=modules, unchecked=("what ran before: it could not be run again",))
    module = 0 if graph.modules and graph.modules[0].config == "function" else -1
    call = _call(crash, book)
    sources = (*graph.sources, *crash.statements(first=len(graph.sources)))
    source = len(sources) - 1 if len(sources) > len(graph.sources) else -1
    graph = replace(graph, tensors=tuple(book.facts), sources=sources, versions=graph.versions)
    inputs = tuple(operand.id for operand in call.operands())
    failed = OpFact(call.name, -1, source, inputs, (), failed=True)
    return _ended(graph, crash, (*graph.ops, failed), _failure(crash, len(graph.ops), call, module))


def _failure(crash: Crash, op: int, call: OpCall, module: int) -> Failure:
    return Failure(op=op, call=call, module=module, error=type(crash.error).__name__, message=str(crash.error))


def _ended(graph: Trace, crash: Crash, ops: tuple[OpFact, ...], failure: Failure) -> Trace:
    return replace(graph, completed=False, error=error_text(crash.error), ops=ops, failures=(failure,), outputs=())


def _call(crash: Crash, book: TensorBook) -> OpCall:
    """What failed, by the innermost frame that knows it."""
    if crash.in_worker:
        codes = [code for _, code in crash.told_frames() if code]
        name = _name_in(codes[-1]) if codes else ERROR
        return op_call(name, (_ragged_items(crash, book),) if name == "torch.stack" else (), {}, book)
    if crash.in_compilation:
        return OpCall("torch.compile")
    if crash.below:
        return _torchs_call(crash, book)
    statement = statement_of(crash.place) if crash.place is not None else None
    if crash.place is None or isinstance(statement, (ast.Raise, ast.Assert)):
        return OpCall(RAISE)
    if isinstance(crash.error, TypeError) and "argument" in str(crash.error):
        return OpCall(CALL)
    for part in failing_parts(crash.place, statement) if statement is not None else ():
        call = _written_call(part, crash, book)
        if call is not None:
            return call
    return OpCall(ERROR)


def _name_in(code: str) -> str:
    """The op that a line of a worker's traceback calls last, as far as the line alone tells."""
    try:
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    except SyntaxError:  # one line of several
        return ERROR
    for call in calls:
        name = ast.unparse(call.func)
        if re.fullmatch(r"torch(\.\w+)+", name):
            return name
        if isinstance(call.func, ast.Attribute) and hasattr(torch.Tensor, call.func.attr):
            return f"torch.Tensor.{call.func.attr}"
    return ERROR


def _ragged_items(crash: Crash, book: TensorBook) -> list[torch.Tensor]:
    """The two items of the data set that the message is about, where they can be found without code of the user's: in a list."""
    found = _RAGGED.search(str(crash.error))
    loaders = (stop.frame.f_locals.get("self") for stop in crash.below)
    dataset: Any = next((vars(loader)["_dataset"] for loader in loaders if "_dataset" in getattr(loader, "__dict__", {})), None)
    if found is None or type(dataset) not in (list, tuple):
        return []
    first, other = (tuple(map(int, re.findall(r"\d+", sizes))) for sizes in found.groups())
    items: dict[tuple[int, ...], torch.Tensor] = {}
    for name, item in leaves(dataset[:_MOST_ITEMS], "dataset"):
        if isinstance(item, torch.Tensor) and shape_of(item) in (first, other) and shape_of(item) not in items:
            items[shape_of(item)] = item
            book.add(item, kind="input", name=name)
    return [items[first], items[other]] if len(items) > 1 else []


def _torchs_call(crash: Crash, book: TensorBook) -> OpCall:
    """A function of torch's that is written in Python, with the tensors that it was given."""
    named, _ = python_failure(crash.error, nowhere, (), {}, book)
    given = parameters_of(crash.below[0].frame).values()
    tensors = tuple(value for value in given if isinstance(value, torch.Tensor))
    return op_call(named.name.replace("torch._tensor.Tensor", "torch.Tensor"), tensors, {}, book)


def _written_call(node: ast.expr, crash: Crash, book: TensorBook) -> OpCall | None:
    """A call into C++, which has no frame of its own, by the statement's text; None where it isn't torch's."""
    if isinstance(node, ast.BinOp):
        operands = tuple(value for part in (node.left, node.right) for value in _held(part, crash))
        name = _OPERATORS.get(type(node.op))
        return op_call(f"torch.Tensor.{name}", operands, {}, book) if name and tensors_in(operands) else None
    if isinstance(node, ast.Subscript):
        owner = tuple(_held(node.value, crash))
        return op_call("torch.Tensor.__getitem__", owner, {}, book) if tensors_in(owner) else None
    if not isinstance(node, ast.Call):
        return None
    args = tuple(value for part in node.args for value in _held(part, crash))
    kwargs = {item.arg: value for item in node.keywords if item.arg for value in _held(item.value, crash)}
    owner = tuple(_held(node.func.value, crash)) if isinstance(node.func, ast.Attribute) else ()
    if isinstance(node.func, ast.Attribute) and (tensors_in(owner) or (not owner and isinstance(crash.error, RuntimeError))):
        return op_call(f"torch.Tensor.{node.func.attr}", (*owner, *args), kwargs, book)
    function = next(_held(node.func, crash), None)
    return op_call(op_name(function), args, kwargs, book) if callable(function) and only_computes(function) else None


def _held(node: ast.expr, crash: Crash) -> Iterator[Any]:
    """What an expression's value is, where it is still there."""
    if crash.place is not None:
        try:
            yield value_of(node, crash.place.frame)
        except Unresolvable:
            return
