"""A Trace's facts and the findings put into columns: the Record."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from tb_shapeplugin.analyse.flops import backward_flops_by_call, flops_of_ops, with_flops
from tb_shapeplugin.analyse.memory import CallIndex, memory_of, saved_by_call, with_memory
from tb_shapeplugin.analyse.tree import Holding, marked_subtrees, subtree_sums
from tb_shapeplugin.analyse.what_if import what_if_of
from tb_shapeplugin.base.units import item_bytes
from tb_shapeplugin.record.columns import Ints, Ragged, ints
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.memory import Memory, MemoryFacts, WhatIf
from tb_shapeplugin.record.record import (
    MODULE_LAZY,
    OP_ASSUMED,
    OP_FAILED,
    OUTCOMES,
    TENSOR_ASSUMED,
    TENSOR_KINDS,
    TENSOR_REQUIRES_GRAD,
    VALUE_ORIGINS,
    CallColumns,
    ModuleColumns,
    OpColumns,
    Record,
    SourceColumns,
    TensorColumns,
    Totals,
    ValueColumns,
)
from tb_shapeplugin.record.trace import ChildFact, Endpoint, ModuleFact, OpFact, SourceFact, TensorFact, Trace, ValueFact
from tb_shapeplugin.record.values import Shape

_UNKNOWN = -1


def record_of(trace: Trace, findings: tuple[Finding, ...] = ()) -> Record:
    """The Record of one run: every text, shape, argument list and list of children stored once.

    The same trace always gives the same record. Figures of modules are of the whole subtree: parameters are distinct
    Parameter objects, bytes distinct storages at their real dtype, -1 where a lazy module leaves them unknown.

    Example:
        >>> record = record_of(trace, findings)
        >>> record.totals.params
        153260
    """
    tables = _Tables()
    figures = _figures(trace)
    modules = _module_columns(trace.modules, figures, tables)
    for shape in (shape for case in trace.cases for shape in case.shapes.values()):
        tables.shape(shape)
    index = CallIndex(trace.modules, trace.calls)
    flops = flops_of_ops(trace)
    memory, what_if = _memory(trace, index, tables)
    return Record(
        name=trace.name,
        completed=trace.completed,
        error=trace.error,
        execution=trace.execution,
        unchecked=trace.unchecked,
        versions=dict(trace.versions),
        modules=modules,
        calls=_call_columns(trace, index),
        tensors=_tensor_columns(trace.tensors, tables),
        ops=_op_columns(trace.ops, flops, tables),
        sources=_source_columns(trace.sources, tables),
        values=_value_columns(trace.values, tables),
        inputs=trace.inputs,
        outputs=trace.outputs,
        totals=_totals(trace, figures, flops),
        findings=findings,
        branches=trace.branches,
        cases=trace.cases,
        memory=memory,
        what_if=what_if,
        strings=tuple(tables.strings),
        shapes=tuple(tables.shapes),
        argument_lists=Ragged.of(tables.argument_lists),
        child_lists=Ragged.of(tables.child_lists),
    )


def _memory(trace: Trace, index: CallIndex, tables: "_Tables") -> tuple[Memory | None, WhatIf | None]:
    if trace.memory is None:
        return None, None

    def columns(facts: MemoryFacts) -> Memory:
        return memory_of(facts, index, tables.string, tables.shape)

    memory = columns(trace.memory)
    if trace.what_if is None:
        return memory, None
    what_if, memory = what_if_of(trace.what_if, memory, trace.memory.iterations[-1], columns)
    return memory, what_if


class _Tables:
    """The tables of things stored once, in the order in which they are first met; dicts keep both order and index."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {"": 0}
        self.shapes: dict[Shape, int] = {}
        self.argument_lists: dict[tuple[int, ...], int] = {(): 0}
        self.child_lists: dict[tuple[int, ...], int] = {(): 0}
        self._children: dict[tuple[ChildFact, ...], int] = {(): 0}

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def shape(self, shape: Shape) -> int:
        return self.shapes.setdefault(shape, len(self.shapes))

    def arguments(self, pairs: tuple[tuple[str, str], ...]) -> int:
        row = tuple(self.string(text) for pair in pairs for text in pair)
        return self.argument_lists.setdefault(row, len(self.argument_lists))

    def children(self, children: tuple[ChildFact, ...]) -> int:
        known = self._children.get(children)
        if known is None:
            row = tuple(value for child in children for value in self._child(child))
            known = self._children[children] = self.child_lists.setdefault(row, len(self.child_lists))
        return known

    def _child(self, child: ChildFact) -> Iterable[int]:
        yield self.string(child.name)
        yield len(child.outputs)
        for shape, dtype in child.outputs:
            yield self.shape(shape)
            yield self.string(dtype)


@dataclass(frozen=True, slots=True)
class _Figures:
    """Per module and, last, of all modules together; -1 where unknown."""

    params: Sequence[int]
    trainable_params: Sequence[int]
    param_bytes: Sequence[int]
    buffer_bytes: Sequence[int]
    local_params: Sequence[int]
    local_param_bytes: Sequence[int]


def tensor_bytes(tensor: TensorFact) -> int | None:
    """Bytes of its elements, or None for a dtype whose size isn't known."""
    size = item_bytes(tensor.dtype)
    return None if size is None else size * prod(tensor.shape)


def _figures(trace: Trace) -> _Figures:
    parents = [module.parent for module in trace.modules]
    lazy = [index for index, module in enumerate(trace.modules) if module.lazy]

    def figure(held: Callable[[ModuleFact], Iterable[int]], identity: Callable[[int], int], size: Callable[[int], int | None]) -> list[int]:
        sizes = [(index, identity(tensor), size(tensor)) for index, module in enumerate(trace.modules) for tensor in held(module)]
        known: list[Holding] = [(module, thing, amount) for module, thing, amount in sizes if amount is not None]
        unknown = marked_subtrees(parents, [*lazy, *(module for module, _, amount in sizes if amount is None)])
        sums = subtree_sums(parents, known)
        whole = _UNKNOWN if unknown else sums[-1]
        return [*(_UNKNOWN if index in unknown else total for index, total in enumerate(sums[:-1])), whole]

    def itself(tensor: int) -> int:
        return tensor

    def storage(tensor: int) -> int:
        return trace.tensors[tensor].storage

    def numel(tensor: int) -> int:
        return prod(trace.tensors[tensor].shape)

    def size(tensor: int) -> int | None:
        fact = trace.tensors[tensor]
        return fact.storage_bytes if fact.storage_bytes >= 0 else tensor_bytes(fact)

    of_parameters = {storage(tensor) for module in trace.modules for tensor in module.parameters}

    def buffers(module: ModuleFact) -> Iterable[int]:
        """Its buffers that are no view of a parameter: such a one takes no memory of its own."""
        return (tensor for tensor in module.buffers if storage(tensor) not in of_parameters)

    def here(tensor: int) -> int:
        local = trace.tensors[tensor].local_numel
        return numel(tensor) if local < 0 else local

    def bytes_here(tensor: int) -> int | None:
        fact = trace.tensors[tensor]
        item = item_bytes(fact.dtype)
        return size(tensor) if fact.local_numel < 0 else None if item is None else fact.local_numel * item

    sharded = any(trace.tensors[tensor].local_numel >= 0 for module in trace.modules for tensor in module.parameters)
    nothing = [_UNKNOWN] * (len(parents) + 1)
    return _Figures(
        params=figure(lambda module: module.parameters, itself, numel),
        trainable_params=figure(lambda module: module.trainable, itself, numel),
        param_bytes=figure(lambda module: module.parameters, storage, size),
        buffer_bytes=figure(buffers, storage, size),
        local_params=figure(lambda module: module.parameters, itself, here) if sharded else nothing,
        local_param_bytes=figure(lambda module: module.parameters, storage, bytes_here) if sharded else nothing,
    )


def _totals(trace: Trace, figures: _Figures, flops: Ints) -> Totals:
    def whole(figure: Sequence[int]) -> int | None:
        return None if figure[-1] == _UNKNOWN else figure[-1]

    first = trace.cases[0] if trace.cases else trace  # several inputs don't add up
    totals = Totals(
        params=whole(figures.params),
        trainable_params=whole(figures.trainable_params),
        param_bytes=whole(figures.param_bytes),
        buffer_bytes=whole(figures.buffer_bytes),
        input_bytes=_endpoint_bytes(trace, first.inputs),
        # What a failed run would have returned is a guess, whatever was assumed to go on.
        output_bytes=_endpoint_bytes(trace, first.outputs) if first.completed else None,
        packed_params=sum(module.packed[0] for module in trace.modules),
        packed_bytes=sum(module.packed[1] for module in trace.modules),
        local_params=whole(figures.local_params),
        local_param_bytes=whole(figures.local_param_bytes),
    )
    totals = with_flops(totals, trace, flops)
    return totals if trace.memory is None else with_memory(totals, trace.memory)


def _endpoint_bytes(trace: Trace, endpoints: Iterable[Endpoint]) -> int | None:
    largest: dict[int, int] = {}
    for endpoint in endpoints:
        if endpoint.tensor >= 0:
            tensor = trace.tensors[endpoint.tensor]
            size = tensor_bytes(tensor)
            if size is None:
                return None
            largest[tensor.storage] = max(largest.get(tensor.storage, 0), size)
    return sum(largest.values())


def _module_columns(modules: Sequence[ModuleFact], figures: _Figures, tables: _Tables) -> ModuleColumns:
    return ModuleColumns(
        path=ints(tables.string(module.path) for module in modules),
        type=ints(tables.string(module.type) for module in modules),
        config=ints(tables.string(module.config) for module in modules),
        parent=ints(module.parent for module in modules),
        params=ints(figures.params[:-1]),
        trainable_params=ints(figures.trainable_params[:-1]),
        param_bytes=ints(figures.param_bytes[:-1]),
        buffer_bytes=ints(figures.buffer_bytes[:-1]),
        local_params=ints(figures.local_params[:-1]),
        local_param_bytes=ints(figures.local_param_bytes[:-1]),
        shared_with=Ragged.of(tuple(tables.string(path) for path in module.shared_with) for module in modules),
        flags=ints(MODULE_LAZY * module.lazy for module in modules),
    )


def _call_columns(trace: Trace, index: CallIndex) -> CallColumns:
    calls = trace.calls
    parents = [call.parent for call in calls]
    unknown = ints(_UNKNOWN for _ in calls)
    return CallColumns(
        module=ints(call.module for call in calls),
        number=ints(call.number for call in calls),
        parent=ints(call.parent for call in calls),
        first_op=ints(call.first_op for call in calls),
        end_op=ints(call.end_op for call in calls),
        inputs=Ragged.of(call.inputs for call in calls),
        outputs=Ragged.of(call.outputs for call in calls),
        outcome=ints(OUTCOMES.index(call.outcome) for call in calls),
        saved_bytes=saved_by_call(trace.memory, index, parents) if trace.memory is not None and trace.memory.iterations else unknown,
        backward_flops=backward_flops_by_call(trace.memory, index, parents),
    )


def _tensor_columns(tensors: Sequence[TensorFact], tables: _Tables) -> TensorColumns:
    return TensorColumns(
        shape=ints(tables.shape(tensor.shape) for tensor in tensors),
        dtype=ints(tables.string(tensor.dtype) for tensor in tensors),
        device=ints(tables.string(tensor.device) for tensor in tensors),
        storage=_counted_up(tensor.storage for tensor in tensors),
        producer=ints(tensor.producer for tensor in tensors),
        kind=ints(TENSOR_KINDS.index(tensor.kind) for tensor in tensors),
        name=ints(tables.string(tensor.name) for tensor in tensors),
        flags=ints(TENSOR_REQUIRES_GRAD * tensor.requires_grad | TENSOR_ASSUMED * tensor.assumed for tensor in tensors),
    )


def _counted_up(identities: Iterable[int]) -> Ints:
    """Identities as numbers in the order in which they are first met, so that equal runs give equal records."""
    met: dict[int, int] = {}
    return ints(met.setdefault(identity, len(met)) for identity in identities)


def _op_columns(ops: Sequence[OpFact], flops: Ints, tables: _Tables) -> OpColumns:
    return OpColumns(
        name=ints(tables.string(op.name) for op in ops),
        call=ints(op.call for op in ops),
        source=ints(op.source for op in ops),
        inputs=Ragged.of(op.inputs for op in ops),
        outputs=Ragged.of(op.outputs for op in ops),
        arguments=ints(tables.arguments(op.arguments) for op in ops),
        children=ints(tables.children(op.children) for op in ops),
        flags=ints(OP_FAILED * op.failed | OP_ASSUMED * op.assumed for op in ops),
        flops=flops,
    )


def _source_columns(sources: Sequence[SourceFact], tables: _Tables) -> SourceColumns:
    return SourceColumns(
        file=ints(tables.string(source.file) for source in sources),
        line=ints(source.line for source in sources),
        end_line=ints(source.end_line for source in sources),
        column=ints(source.column for source in sources),
        end_column=ints(source.end_column for source in sources),
        code=ints(tables.string(source.code) for source in sources),
        function=ints(tables.string(source.function) for source in sources),
        text=ints(tables.string(source.text) for source in sources),
        text_line=ints(source.text_line for source in sources),
        caller=ints(source.caller for source in sources),
    )


def _value_columns(values: Sequence[ValueFact], tables: _Tables) -> ValueColumns:
    return ValueColumns(
        tensor=ints(value.tensor for value in values),
        op=ints(value.op for value in values),
        source=ints(value.source for value in values),
        origin=ints(VALUE_ORIGINS.index(value.origin) for value in values),
        literal=ints(tables.string(value.literal) for value in values),
    )
