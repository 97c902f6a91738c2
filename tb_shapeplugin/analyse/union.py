"""Several runs of one model as one trace that says what each of them did."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tb_shapeplugin.analyse.alignment import Node, aligned
from tb_shapeplugin.analyse.renumber import Numbers, relinked, renumbered
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.trace import CallFact, Case, Endpoint, ModuleFact, OpFact, Outcome, SourceFact, TensorFact, Trace, ValueFact

_WORST_FIRST: tuple[Outcome, ...] = ("failed", "assumed", "ok")


def union(runs: Mapping[str, tuple[Trace, tuple[Finding, ...]]]) -> tuple[Trace, tuple[Finding, ...]]:
    """One trace of all runs, by the names of their cases, and the findings of all.

    What several cases did at one place of one call is one op; its row tells of the first of them, ``cases`` of the others'
    shapes, and its inputs are those of all. Figures and totals are those of the first case.
    """
    names, traces = list(runs), [trace for trace, _ in runs.values()]
    made = _Union(traces)
    return made.trace(names), _findings(names, [findings for _, findings in runs.values()], made.numbers)


class _Union:
    """The tables of the union, filled while the runs are gone through one after another."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self._traces = traces
        self._ops: list[Node] = []
        self._calls: list[tuple[Node, int, int, int]] = []  # node, parent, first op, end op
        self._number(aligned(traces))
        self._call_of = {id(part): index for index, (node, *_) in enumerate(self._calls) for part in node.parts if part.is_op}
        self.sources: dict[SourceFact, int] = {}
        self.tensors: list[TensorFact] = []
        self.modules: list[ModuleFact] = []
        self.shapes: list[dict[int, tuple[int, ...]]] = [{} for _ in traces]
        self._tensor_keys: dict[Hashable, int] = {}
        self._storages: dict[tuple[int, int], int] = {}
        self._source_maps = [self._add_sources(trace.sources) for trace in traces]
        ops: list[dict[int, int]] = [{} for _ in traces]
        for index, node in enumerate(self._ops):
            for run, row in node.rows.items():
                ops[run][row] = index
        self.numbers = [Numbers(ops[run], self._add_tensors(run, ops[run])) for run in range(len(traces))]
        self._module_of: dict[str, int] = {}
        for run in range(len(traces)):
            self._add_modules(run)

    def _number(self, root: Node) -> None:
        """Ops and calls in the order in which they begin."""
        waiting: list[tuple[Node, int, bool]] = [(root, -1, False)]
        opened: dict[int, int] = {}
        while waiting:
            node, parent, done = waiting.pop()
            if node.is_op:
                self._ops.append(node)
            elif done:
                index = opened[id(node)]
                self._calls[index] = (*self._calls[index][:3], len(self._ops))
            else:
                index = -1
                if node is not root:
                    index = opened[id(node)] = len(self._calls)
                    self._calls.append((node, parent, len(self._ops), -1))
                    waiting.append((node, parent, True))
                waiting += [(part, index, False) for part in reversed(node.parts)]

    def _add_sources(self, sources: Sequence[SourceFact]) -> list[int]:
        numbers: list[int] = []
        for source in sources:
            moved = replace(source, caller=numbers[source.caller] if source.caller >= 0 else -1)
            numbers.append(self.sources.setdefault(moved, len(self.sources)))
        return numbers

    def _add_tensors(self, run: int, ops: Mapping[int, int]) -> dict[int, int]:
        trace, numbers = self._traces[run], {}
        places = {tensor: (op, place) for op, fact in reversed(list(enumerate(trace.ops))) for place, tensor in enumerate(fact.outputs)}
        uses = {tensor: (op, place) for op, fact in reversed(list(enumerate(trace.ops))) for place, tensor in enumerate(fact.inputs)}
        for index, tensor in enumerate(trace.tensors):
            if index in places:
                op, place = places[index]
                key: Hashable = ("made", ops[op], place)
            elif tensor.name:
                key = (tensor.kind, tensor.name)
            else:
                op, place = uses.get(index, (-1, index))
                key = (tensor.kind, ops.get(op, -1 - run), place)
            numbers[index] = self._tensor(run, key, replace(tensor, producer=ops.get(tensor.producer, -1)))
        return numbers

    def _tensor(self, run: int, key: Hashable, tensor: TensorFact) -> int:
        known = self._tensor_keys.setdefault(key, len(self.tensors))
        storage = (run, tensor.storage)
        if known == len(self.tensors):
            self.tensors.append(replace(tensor, storage=self._storages.setdefault(storage, len(self._storages))))
        else:
            self._storages.setdefault(storage, self.tensors[known].storage)
            if self.tensors[known].shape != tensor.shape:
                self.shapes[run][known] = tensor.shape
        return known

    def _add_modules(self, run: int) -> None:
        tensors, modules = self.numbers[run].tensors, self._traces[run].modules
        for module in modules:
            if module.path in self._module_of:
                continue
            self._module_of[module.path] = len(self.modules)
            self.modules.append(
                replace(
                    module,
                    parent=self._module_of[modules[module.parent].path] if module.parent >= 0 else -1,
                    parameters=tuple(tensors[index] for index in module.parameters),
                    trainable=tuple(tensors[index] for index in module.trainable),
                    buffers=tuple(tensors[index] for index in module.buffers),
                )
            )

    def _op(self, node: Node) -> OpFact:
        facts = [(run, self._traces[run].ops[row]) for run, row in node.rows.items()]
        first_run, first = facts[0]
        mapped = [(self.numbers[run].tensors, fact) for run, fact in facts]
        own = [mapped[0][0][tensor] for tensor in first.inputs]  # arguments count on their places
        return replace(
            first,
            call=self._call_of.get(id(node), -1),
            source=self._source_maps[first_run][first.source] if first.source >= 0 else -1,
            inputs=(*own, *(tensor for tensor in _united(mapped, "inputs") if tensor not in own)),
            outputs=_united(mapped, "outputs"),
            failed=any(fact.failed for _, fact in facts),
            assumed=all(fact.assumed for _, fact in facts),
        )

    def _call(self, node: Node, parent: int, first_op: int, end_op: int, counts: dict[int, int]) -> CallFact:
        mapped = [(self.numbers[run].tensors, self._traces[run].calls[row]) for run, row in node.rows.items()]
        first = self._traces[next(iter(node.rows))]
        module = self._module_of[first.modules[mapped[0][1].module].path]
        number = counts[module] = counts.get(module, 0) + 1
        outcomes = {fact.outcome for _, fact in mapped}
        return CallFact(
            module,
            number,
            parent,
            first_op,
            end_op,
            _united(mapped, "inputs"),
            _united(mapped, "outputs"),
            next(outcome for outcome in _WORST_FIRST if outcome in outcomes),
        )

    def _endpoints(self, run: int, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        tensors = self.numbers[run].tensors
        return tuple(replace(end, tensor=tensors[end.tensor]) if end.tensor >= 0 else end for end in endpoints)

    def _values(self, run: int) -> Iterator[ValueFact]:
        numbers, sources = self.numbers[run], self._source_maps[run]
        for value in self._traces[run].values:
            source = sources[value.source] if value.source >= 0 else -1
            yield replace(value, tensor=numbers.tensors[value.tensor], op=numbers.ops.get(value.op, -1), source=source)

    def _case(self, run: int, name: str, values: Mapping[ValueFact, int]) -> Case:
        trace = self._traces[run]
        return Case(
            name=name,
            completed=trace.completed,
            error=trace.error,
            execution=trace.execution,
            ops=tuple(index for index, node in enumerate(self._ops) if run in node.rows),
            calls=tuple(index for index, (node, *_) in enumerate(self._calls) if run in node.rows),
            values=tuple(sorted({values[value] for value in self._values(run)})),
            shapes=self.shapes[run],
            inputs=self._endpoints(run, trace.inputs),
            outputs=self._endpoints(run, trace.outputs),
        )

    def trace(self, names: Sequence[str]) -> Trace:
        """The union, its cases under those names."""
        first = self._traces[0]
        counts: dict[int, int] = {}
        values: dict[ValueFact, int] = {}
        for value in (value for run in range(len(names)) for value in self._values(run)):
            values.setdefault(value, len(values))
        cases = tuple(self._case(run, name, values) for run, name in enumerate(names))
        failing = [trace.error for trace in self._traces if not trace.completed]
        return Trace(
            name=first.name,
            execution="real" if any(trace.execution == "real" for trace in self._traces) else "fake",
            completed=not failing,
            error=failing[0] if failing else "",
            tensors=tuple(self.tensors),
            ops=tuple(map(self._op, self._ops)),
            modules=tuple(self.modules),
            calls=tuple(self._call(*call, counts) for call in self._calls),
            sources=tuple(self.sources),
            failures=(),
            inputs=_once(end for case in cases for end in case.inputs),
            outputs=_once(end for case in cases for end in case.outputs),
            unchecked=_unchecked(names, self._traces),
            versions=first.versions,
            values=tuple(values),
            cases=cases,
        )


def _united(facts: Iterable[tuple[Mapping[int, int], OpFact | CallFact]], side: str) -> tuple[int, ...]:
    """The tensors on one side of the same op or call in several runs, each once, by their numbers in the union."""
    return tuple(dict.fromkeys(tensors[tensor] for tensors, fact in facts for tensor in getattr(fact, side)))


def _once(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    """The same name with the same tensor once; of literals, which differ between cases, the first."""
    found: dict[tuple[str, int], Endpoint] = {}
    for end in endpoints:
        found.setdefault((end.name, end.tensor), end)
    return tuple(found.values())


def _unchecked(names: Sequence[str], traces: Sequence[Trace]) -> tuple[str, ...]:
    """What none could answer, then what some couldn't, with the names of their cases."""
    texts = dict.fromkeys(text for trace in traces for text in trace.unchecked)
    told = []
    for text in texts:
        having = [name for name, trace in zip(names, traces, strict=True) if text in trace.unchecked]
        told.append(text if len(having) == len(names) else f"{text} (case {', '.join(having)})")
    return tuple(told)


def _findings(names: Sequence[str], findings: Sequence[tuple[Finding, ...]], numbers: Sequence[Numbers]) -> tuple[Finding, ...]:
    """All findings under the union's numbers; the same one of several cases once."""
    moved = [renumbered(theirs, of_run) for theirs, of_run in zip(findings, numbers, strict=True)]
    cases: dict[Hashable, dict[str, None]] = {}
    for name, theirs in zip(names, moved, strict=True):
        for finding in theirs:
            cases.setdefault(_identity(finding), {})[name] = None
    merged: dict[Hashable, Finding] = {}

    def with_cases(finding: Finding) -> Finding:
        return merged.setdefault(_identity(finding), replace(finding, cases=tuple(cases[_identity(finding)])))

    told = dict.fromkeys(_identity(finding) for theirs in moved for finding in relinked(theirs, with_cases))
    return tuple(sorted((merged[identity] for identity in told), key=lambda finding: finding.op_index))


def _identity(finding: Finding) -> Hashable:
    return finding.kind, finding.op_index, finding.message
