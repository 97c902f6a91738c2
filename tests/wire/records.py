"""Records of any content that keep to the invariants: for Hypothesis, and a small hand-written one for everybody."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from hypothesis import strategies as st

from tb_shapeplugin.record.columns import Columns, Ints, Ragged, ints
from tb_shapeplugin.record.finding import Finding, Fix, Mark, Origin, Place
from tb_shapeplugin.record.memory import PHASES, TERMS, Memory, Size, Variant, WhatIf
from tb_shapeplugin.record.record import CallColumns, ModuleColumns, OpColumns, Record, SourceColumns, TensorColumns, Totals, ValueColumns
from tb_shapeplugin.record.trace import Branch, Case, Endpoint
from tb_shapeplugin.wire.encode import encode
from tb_shapeplugin.wire.header import Header, header_of
from tb_shapeplugin.wire.tables import MEMORY_TABLES, PLAIN, TABLES, Column

LARGEST = 2**63 - 1
FITS_32 = 2**32 - 1

# No lone surrogates: UTF-8 has none, encode writes them out (tested by itself).
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["<script>alert(1)</script>", "\x00", "\u202egnp.exe", "__proto__", "层", "../../etc/passwd", "%0", "💥" * 50]
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
NUMBERS = st.dictionaries(TEXTS, st.integers(-(2**63), LARGEST), max_size=3)


@st.composite
def records(draw: Callable[[st.SearchStrategy[Any]], Any], max_rows: int = 8) -> Record:
    """Any Record, empty tables, hostile strings and huge numbers included."""
    strings = ("", *draw(st.lists(TEXTS, max_size=max_rows)))
    shapes = tuple(draw(st.lists(st.lists(st.integers(0, LARGEST), max_size=6).map(tuple), min_size=1, max_size=max_rows)))
    sizes = {"strings": len(strings), "shapes": len(shapes), "argument_lists": 1, "child_lists": 1, "kinds": 5, "outcomes": 3, "origins": 3}
    sizes |= {table.name: draw(st.integers(0, max_rows)) for table in TABLES}
    sizes["calls"] = sizes["calls"] if sizes["modules"] else 0  # each is a module's
    sizes["values"] = sizes["values"] if sizes["tensors"] else 0  # each is a tensor's
    argument_lists = Ragged.of([(), *draw(st.lists(_pairs(len(strings)), max_size=3))])
    child_lists = Ragged.of([(), *draw(st.lists(_children(len(strings), len(shapes)), max_size=3))])
    sizes |= {"argument_lists": len(argument_lists), "child_lists": len(child_lists)}
    tables = {table.name: draw(_table(table.type, table.columns, table.name, sizes)) for table in TABLES}
    return Record(
        name=draw(TEXTS),
        completed=draw(st.booleans()),
        error=draw(TEXTS),
        execution=draw(st.sampled_from(["fake", "real"])),
        unchecked=tuple(draw(st.lists(TEXTS, max_size=2))),
        versions=draw(st.dictionaries(TEXTS, TEXTS, max_size=3)),
        strings=strings,
        shapes=shapes,
        argument_lists=argument_lists,
        child_lists=child_lists,
        inputs=tuple(draw(st.lists(_endpoints(sizes["tensors"]), max_size=3))),
        outputs=tuple(draw(st.lists(_endpoints(sizes["tensors"]), max_size=3))),
        totals=draw(_totals()),
        memory=draw(st.none() | _memories(sizes)),
        what_if=draw(st.none() | _what_ifs(sizes)),
        findings=_with_causes(draw, draw(st.lists(_findings(sizes), max_size=4))),
        branches=draw(st.none() | st.lists(_branches(sizes["modules"]), max_size=2).map(tuple)),
        cases=tuple(draw(st.lists(_cases(sizes, shapes), max_size=2))),
        **tables,
    )


def _totals() -> st.SearchStrategy[Totals]:
    figure, names = st.none() | st.integers(0, LARGEST), [field.name for field in fields(Totals)]
    return st.builds(Totals, **dict.fromkeys(names, figure) | {"flops_complete": st.none() | st.booleans()})


@st.composite
def _memories(draw: Callable[[st.SearchStrategy[Any]], Any], sizes: dict[str, int], scales: int = 1) -> Memory:
    """A Memory with tables of its own; it points at the first scale alone, which is there without any."""
    rows = {"ops": draw(st.integers(0, 5)), "allocations": draw(st.integers(0, 5)) if sizes["shapes"] else 0}
    inside = {**sizes, **rows, "memory ops": rows["ops"], "terms": len(TERMS), "scales": scales}
    tables = {table.name: draw(_table(table.type, table.columns, table.name, inside)) for table in MEMORY_TABLES}
    ends = sorted(draw(st.lists(st.integers(0, rows["ops"]), max_size=4)))
    reasons = st.dictionaries(TEXTS, TEXTS, max_size=2)
    return Memory(
        phases=tuple((draw(st.sampled_from(PHASES)), end) for end in ends),
        saved_input_bytes=draw(st.integers(0, LARGEST)),
        saved_buffer_bytes=draw(st.integers(0, LARGEST)),
        unknown=draw(reasons),
        estimated=draw(reasons),
        **tables,
    )


@st.composite
def _what_ifs(draw: Callable[[st.SearchStrategy[Any]], Any], sizes: dict[str, int]) -> WhatIf:
    number = st.integers(0, LARGEST)
    axes = st.lists(TEXTS, max_size=2).map(tuple)
    found = draw(st.lists(st.builds(Size, TEXTS, number, number, number, axes), max_size=2))
    polynomial = st.lists(st.floats(allow_nan=False), max_size=3).map(tuple)
    scales = draw(st.lists(st.tuples(*[polynomial] * len(found)), max_size=3))
    variants = draw(st.lists(st.builds(Variant, TEXTS, TEXTS, _memories(sizes, max(1, len(scales)))), max_size=2))
    return WhatIf(tuple(found), tuple(scales), tuple(variants), draw(st.dictionaries(TEXTS, TEXTS, max_size=2)))


def _branches(modules: int) -> st.SearchStrategy[Branch]:
    line = st.integers(0, FITS_32)
    return st.builds(Branch, TEXTS, line, line, TEXTS, TEXTS, _rows(modules))


def _cases(sizes: dict[str, int], shapes: tuple[tuple[int, ...], ...]) -> st.SearchStrategy[Case]:
    execution = st.sampled_from(["fake", "real"])
    other_shapes = st.dictionaries(st.integers(0, sizes["tensors"] - 1), st.sampled_from(shapes)) if sizes["tensors"] else st.just({})
    ends = st.lists(_endpoints(sizes["tensors"]), max_size=2).map(tuple)
    return st.builds(
        Case,
        TEXTS,
        st.booleans(),
        TEXTS,
        execution,
        *map(_rows, (sizes["ops"], sizes["calls"], sizes["values"])),
        other_shapes,
        inputs=ends,
        outputs=ends,
    )


def _rows(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Ascending rows of a table of that size."""
    return st.sets(st.integers(0, size - 1)).map(sorted).map(tuple) if size else st.just(())


def _pairs(strings: int) -> st.SearchStrategy[list[int]]:
    index = st.integers(0, strings - 1)
    return st.lists(st.tuples(index, index), max_size=3).map(lambda pairs: [part for pair in pairs for part in pair])


def _children(strings: int, shapes: int) -> st.SearchStrategy[list[int]]:
    string, shape = st.integers(0, strings - 1), st.integers(0, shapes - 1)
    child = st.tuples(string, st.lists(st.tuples(shape, string), max_size=2))
    return st.lists(child, max_size=3).map(
        lambda row: [part for name, outputs in row for part in (name, len(outputs), *(number for output in outputs for number in output))]
    )


def _table(type_: type[Columns], columns: tuple[Column, ...], name: str, sizes: dict[str, int]) -> st.SearchStrategy[Columns]:
    rows = sizes[name]
    strategies = {column.name: _column(column, rows, sizes) for column in columns}
    made = st.builds(type_, **strategies)
    return made.map(lambda calls: _with_ops(calls, sizes["ops"])) if type_ is CallColumns else made


def _with_ops(calls: CallColumns, ops: int) -> CallColumns:
    """Ops of a call within those of the record, whatever was drawn."""
    first = [int(value) % (ops + 1) for value in calls.first_op]
    end = [at + int(value) % (ops - at + 1) for at, value in zip(first, calls.end_op, strict=True)]
    return replace(calls, first_op=ints(first), end_op=ints(end))


def _column(column: Column, rows: int, sizes: dict[str, int]) -> st.SearchStrategy[Ints | Ragged]:
    lowest, size = column.coding.lowest, sizes.get(column.table)
    highest = size - 1 if size is not None else (FITS_32 if column.coding is PLAIN else LARGEST)
    if column.ragged:
        row = st.lists(st.integers(lowest, highest), max_size=3) if highest >= lowest else st.just([])
        return st.lists(row, min_size=rows, max_size=rows).map(Ragged.of)
    if column.earlier:
        return st.tuples(*[st.integers(-1, row - 1) for row in range(rows)]).map(ints)
    return st.lists(st.integers(lowest, max(lowest, highest)), min_size=rows, max_size=rows).map(ints)


def _endpoints(tensors: int) -> st.SearchStrategy[Endpoint]:
    return st.builds(Endpoint, TEXTS, st.integers(-1, tensors - 1), TEXTS)


def _findings(sizes: dict[str, int]) -> st.SearchStrategy[Finding]:
    line, op, tensor = st.integers(0, FITS_32), st.integers(-1, sizes["ops"] - 1), st.integers(-1, sizes["tensors"] - 1)
    mark = st.builds(Mark, st.integers(0, max(0, sizes["tensors"] - 1)), st.integers(0, 7))
    marks = st.lists(mark, max_size=2 if sizes["tensors"] else 0).map(tuple)
    shape = st.lists(st.integers(0, LARGEST), max_size=3).map(tuple)
    origin = st.builds(Origin, TEXTS, TEXTS, TEXTS, line, TEXTS, op, tensor, shape)
    changes = st.lists(st.dictionaries(TEXTS, JSON_VALUES, max_size=3), max_size=2).map(tuple)
    place = st.builds(Place, TEXTS, line, TEXTS, TEXTS, line, TEXTS, op)
    return st.builds(
        Finding,
        *[TEXTS, st.sampled_from(["error", "warning", "note"]), TEXTS, TEXTS, TEXTS, line, TEXTS, TEXTS, line, TEXTS],
        got=NUMBERS,
        want=NUMBERS,
        types=TEXTS,
        origin=st.none() | origin,
        why=TEXTS,
        torch_message=TEXTS,
        places=st.lists(place, max_size=2).map(tuple),
        marks=marks,
        readings=st.lists(TEXTS, max_size=2).map(tuple),
        fixes=st.lists(st.builds(Fix, TEXTS, changes, st.booleans(), TEXTS), max_size=2).map(tuple),
        op_index=op,
        cases=st.lists(TEXTS, max_size=2).map(tuple),
    )


def _with_causes(draw: Callable[[st.SearchStrategy[Any]], Any], findings: list[Finding]) -> tuple[Finding, ...]:
    """Some of them caused by one before, in any order in the record."""
    linked: list[Finding] = []
    for finding in findings:
        cause = draw(st.none() | st.sampled_from(linked)) if linked else None
        linked.append(replace(finding, caused_by=cause))
    return tuple(draw(st.permutations(linked)))


def small_record(name: str = "Net", *, completed: bool = True) -> Record:
    """A Linear in a root module on one input: the smallest record that has a row in each table.

    x f32[4,8] ── fc (Linear 8→2) ── y f32[4,2]
    """
    strings = ("", name, "fc", "Linear", "in_features=8, out_features=2", "float32", "cpu", "x", "fc.weight", "fc.bias")
    strings += ("torch.nn.functional.linear", "net.py", "return self.fc(x)", "forward", "bias", "%2", "aten.addmm.default")
    finding = Finding("linear_in_features", "error", "its input has 8", "fc", "Linear", 1, "linear", "net.py", 9, "self.fc(x)")
    return Record(
        name=name,
        completed=completed,
        error="" if completed else "RuntimeError: mat1 and mat2 shapes cannot be multiplied",
        execution="real",
        unchecked=(),
        versions={"torch": "2.13.0"},
        strings=strings,
        shapes=((4, 8), (2, 8), (2,), (4, 2)),
        argument_lists=Ragged.of([(), (14, 15)]),
        child_lists=Ragged.of([(), (16, 1, 3, 5)]),
        modules=_columns(
            ModuleColumns,
            [0, 2],
            [1, 3],
            [0, 4],
            [-1, 0],
            [18, 18],
            [18, 18],
            [72, 72],
            [0, 0],
            [-1, -1],
            [-1, -1],
            Ragged.of([(), ()]),
            [0, 0],
        ),
        calls=_columns(
            CallColumns, [0, 1], [1, 1], [-1, 0], [0, 0], [1, 1], Ragged.of([(0,), (0,)]), Ragged.of([(3,), (3,)]), [0, 0], [0, 0], [-1, -1]
        ),
        tensors=_columns(
            TensorColumns, [0, 1, 2, 3], [5] * 4, [6] * 4, [0, 1, 2, 3], [-1, -1, -1, 0], [3, 1, 1, 0], [7, 8, 9, 0], [0, 1, 1, 1]
        ),
        ops=_columns(OpColumns, [10], [1], [0], Ragged.of([(0, 1, 2)]), Ragged.of([(3,)]), [1], [1], [0], [128]),
        sources=_columns(SourceColumns, [11], [9], [9], [15], [25], [12], [13], [0], [0], [-1]),
        values=_columns(ValueColumns, [0], [-1], [0], [0], [0]),
        inputs=(Endpoint("x", 0),),
        outputs=(Endpoint("", 3),),
        totals=Totals(18, 18, 72, 0, 128, 32),
        findings=() if completed else (finding,),
    )


def _columns(type_: Callable[..., Any], *columns: list[int] | Ragged) -> Any:
    return type_(*[ints(column) if isinstance(column, list) else column for column in columns])


def stored(record: Record | None = None) -> tuple[bytes, Header]:
    """A record's bytes and its header, as a writer takes them."""
    record = record or small_record()
    return encode(record), header_of(record)
