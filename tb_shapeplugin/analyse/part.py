"""One module's part of a trace: what it and the modules below it did, on the inputs that it got in the whole."""

from collections.abc import Iterable
from dataclasses import replace

from tb_shapeplugin.analyse.renumber import Numbers, renumbered
from tb_shapeplugin.analyse.tree import ancestry
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.trace import CallFact, Endpoint, ModuleFact, SourceFact, TensorFact, Trace


def part(trace: Trace, findings: tuple[Finding, ...], path: str) -> tuple[Trace, tuple[Finding, ...]]:
    """The part of the module at that path, and the findings inside it. Paths stay those of the whole.

    A part that was never called has no ops; it is completed when no call in it failed and every call ended.
    """
    cut = _Cut(trace, path)
    kept = [finding for finding in findings if finding.op_index in cut.ops]
    return cut.trace(), renumbered(kept, Numbers(cut.ops, cut.tensors))


def _numbered(kept: Iterable[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(sorted(kept))}


class _Cut:
    """What is kept, by its old numbers, and the new ones."""

    def __init__(self, trace: Trace, path: str) -> None:
        self._trace = trace
        parents = [module.parent for module in trace.modules]
        top = next((index for index, module in enumerate(trace.modules) if module.path == path), -1)
        self.modules = _numbered(index for index in range(len(parents)) if top in ancestry(parents, index))
        self.calls = _numbered(self._calls_under(top))
        self.ops = _numbered(index for index, op in enumerate(trace.ops) if op.call in self.calls)
        self._before = [0]  # how many kept ops come before each position
        for index in range(len(trace.ops)):
            self._before.append(self._before[-1] + (index in self.ops))
        self.tensors = _numbered(self._tensors_used())
        self.sources = _numbered(self._sources_used())

    def _calls_under(self, top: int) -> set[int]:
        kept: set[int] = set()
        for index, call in enumerate(self._trace.calls):
            if call.module == top or call.parent in kept:
                kept.add(index)
        return kept

    def _tensors_used(self) -> set[int]:
        trace = self._trace
        used = {end.tensor for end in (*trace.inputs, *trace.outputs) if end.tensor >= 0}
        for index in self.modules:
            used.update(trace.modules[index].parameters, trace.modules[index].buffers)
        for index in self.calls:
            used.update(trace.calls[index].inputs, trace.calls[index].outputs)
        for index in self.ops:
            used.update(trace.ops[index].inputs, trace.ops[index].outputs)
        return used

    def _sources_used(self) -> set[int]:
        trace = self._trace
        callers = [source.caller for source in trace.sources]
        used: set[int] = set()
        for index in (
            *(trace.ops[op].source for op in self.ops),
            *(value.source for value in trace.values if value.tensor in self.tensors),
        ):
            for above in ancestry(callers, index):
                if above in used:
                    break
                used.add(above)
        return used

    def _tensor(self, index: int, names: dict[int, str]) -> TensorFact:
        fact = self._trace.tensors[index]
        if fact.producer in self.ops or fact.producer < 0:
            return replace(fact, producer=self.ops.get(fact.producer, -1))
        if index in names:
            return replace(fact, producer=-1, kind="input", name=names[index])
        return replace(fact, producer=-1, kind="constant")

    def _module(self, index: int) -> ModuleFact:
        fact = self._trace.modules[index]
        parameters, trainable, buffers = (
            tuple(self.tensors[tensor] for tensor in tensors) for tensors in (fact.parameters, fact.trainable, fact.buffers)
        )
        parent = self.modules.get(fact.parent, -1)
        return replace(fact, parent=parent, parameters=parameters, trainable=trainable, buffers=buffers)

    def _call(self, index: int) -> CallFact:
        fact = self._trace.calls[index]
        return replace(
            fact,
            module=self.modules.get(fact.module, 0),
            parent=self.calls.get(fact.parent, -1),
            first_op=self._before[fact.first_op],  # a call's ops stand in a row here as there
            end_op=self._before[fact.end_op],
            inputs=tuple(self.tensors[tensor] for tensor in fact.inputs),
            outputs=tuple(self.tensors[tensor] for tensor in fact.outputs),
        )

    def _ends(self, ends: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        return tuple(replace(end, tensor=self.tensors.get(end.tensor, -1)) for end in ends)

    def _source(self, index: int) -> SourceFact:
        return replace(self._trace.sources[index], caller=self.sources.get(self._trace.sources[index].caller, -1))

    def trace(self) -> Trace:
        """The part as a trace of its own."""
        trace = self._trace
        names = {end.tensor: end.name for end in trace.inputs}
        failed = [failure for failure in trace.failures if failure.op in self.ops]
        completed = not failed and bool(self.calls) and all(trace.calls[index].outcome != "failed" for index in self.calls)
        return replace(
            trace,
            completed=completed,
            error="" if completed else f"{failed[0].error}: {failed[0].message}".partition("\n")[0] if failed else trace.error,
            tensors=tuple(self._tensor(index, names) for index in self.tensors),
            ops=tuple(
                replace(
                    op,
                    call=self.calls[op.call],
                    source=self.sources.get(op.source, -1),
                    inputs=tuple(self.tensors[tensor] for tensor in op.inputs),
                    outputs=tuple(self.tensors[tensor] for tensor in op.outputs),
                )
                for op in (trace.ops[index] for index in self.ops)
            ),
            modules=tuple(self._module(index) for index in self.modules),
            calls=tuple(self._call(index) for index in self.calls),
            sources=tuple(self._source(index) for index in self.sources),
            failures=(),
            inputs=self._ends(trace.inputs),
            outputs=self._ends(trace.outputs),
            values=tuple(
                replace(
                    value,
                    tensor=self.tensors[value.tensor],
                    op=self.ops.get(value.op, -1),
                    source=self.sources.get(value.source, -1),
                )
                for value in trace.values
                if value.tensor in self.tensors
            ),
        )
