"""Rows of a Record's tables, read from the columns when they are asked for."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Final, TypeVar

from tb_shapeplugin.base.units import compact_type, item_bytes
from tb_shapeplugin.record.columns import Ints, ints
from tb_shapeplugin.record.record import MODULE_LAZY, OP_ASSUMED, OP_FAILED, OUTCOMES, TENSOR_ASSUMED, TENSOR_KINDS, VALUE_ORIGINS, Record
from tb_shapeplugin.record.trace import ChildFact, Outcome, ValueOrigin
from tb_shapeplugin.record.values import Shape, TensorKind

Value = TypeVar("Value", int, str)
_NO_INTS: Final[Ints] = ints(())


class Row:
    """One row of one record; equal to another view of the same row."""

    __slots__ = ("_index", "_record")

    def __init__(self, record: Record, index: int) -> None:
        self._record: Final = record
        self._index: Final = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, ...]:
        return id(self._record), self._index

    def _text(self, column: Ints) -> str:
        return self._record.strings[int(column[self._index])]


class TensorRow(Row):
    """A tensor at one moment: an in-place op makes a new one of the same storage."""

    __slots__ = ()

    @property
    def id(self) -> int:
        """Its number in the record."""
        return self._index

    @property
    def shape(self) -> Shape:
        """Sizes of its axes."""
        return self._record.shapes[int(self._record.tensors.shape[self._index])]

    @property
    def dtype(self) -> str:
        """torch's name of it, without ``torch.``: ``float32``."""
        return self._text(self._record.tensors.dtype)

    @property
    def device(self) -> str:
        """As torch writes it: ``cpu``, ``cuda:0``."""
        return self._text(self._record.tensors.device)

    @property
    def storage(self) -> int:
        """Number of its storage; views and their base have one."""
        return int(self._record.tensors.storage[self._index])

    @property
    def bytes(self) -> int | None:
        """Its elements' bytes, None for a dtype whose size isn't known."""
        size = item_bytes(self.dtype)
        return None if size is None else size * prod(self.shape)

    @property
    def assumed(self) -> bool:
        """True where an earlier failure was passed over, so that the type is a guess or follows from one."""
        return bool(self._record.tensors.flags[self._index] & TENSOR_ASSUMED)

    @property
    def kind(self) -> TensorKind:
        """``activation``, ``parameter``, ``buffer``, ``input`` or ``constant``."""
        return TENSOR_KINDS[int(self._record.tensors.kind[self._index])]

    @property
    def name(self) -> str:
        """Dotted path of a parameter or buffer, name of an input, else empty."""
        return self._text(self._record.tensors.name)

    @property
    def producer(self) -> int:
        """Index of the op that made it, -1 for what was there before."""
        return int(self._record.tensors.producer[self._index])

    def __str__(self) -> str:
        return compact_type(self.dtype, self.shape, "" if self.device == "cpu" else self.device)

    def __repr__(self) -> str:
        words = [f"TensorRow({self.id}: {self}", f" {self.kind}", f" {self.name}" if self.name else "", " assumed" if self.assumed else ""]
        return "".join(words) + ")"


class OpRow(Row):
    """One call of a torch function, as the user wrote it."""

    __slots__ = ()

    @property
    def index(self) -> int:
        """Its place in execution order, from 0."""
        return self._index

    @property
    def name(self) -> str:
        """``torch.nn.functional.conv2d``, ``torch.Tensor.view``; ``torch.nn.Linear`` where a module's own check fails."""
        return self._text(self._record.ops.name)

    @property
    def module(self) -> str:
        """Dotted path of the module whose forward called it; "" for the root and outside any."""
        return self._of_call(lambda call: self._record.strings[int(self._record.modules.path[self._record.calls.module[call]])], "")

    @property
    def call(self) -> int:
        """Which call of that module, from 1; 0 outside any."""
        return self._of_call(lambda call: int(self._record.calls.number[call]), 0)

    @property
    def inputs(self) -> tuple[TensorRow, ...]:
        """The tensors among its arguments, in order."""
        return _tensors(self._record, self._record.ops.inputs[self._index])

    @property
    def outputs(self) -> tuple[TensorRow, ...]:
        """The tensors it returned or wrote."""
        return _tensors(self._record, self._record.ops.outputs[self._index])

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments that are no tensors, by name, as literals; ``%0`` in one stands for ``inputs[0]``."""
        texts = [self._record.strings[text] for text in self._record.argument_lists[int(self._record.ops.arguments[self._index])]]
        return dict(zip(texts[::2], texts[1::2], strict=True))

    @property
    def file(self) -> str:
        """File of the statement, "" where it isn't known."""
        return self._of_source(lambda source: self._record.strings[int(self._record.sources.file[source])], "")

    @property
    def line(self) -> int:
        """Line of the statement, 0 where it isn't known."""
        return self._of_source(lambda source: int(self._record.sources.line[source]), 0)

    @property
    def code(self) -> str:
        """The statement, its lines joined by one space, "" where it isn't known."""
        return self._of_source(lambda source: self._record.strings[int(self._record.sources.code[source])], "")

    @property
    def children(self) -> tuple[ChildFact, ...]:
        """The aten ops that ran inside it."""
        return _children(self._record, self._record.child_lists[int(self._record.ops.children[self._index])])

    @property
    def flops(self) -> int | None:
        """Its FLOPs, one multiply-add being two; None where some aten op of it has no formula, and where it failed."""
        return _known(int(self._record.ops.flops[self._index]))

    @property
    def failed(self) -> bool:
        """True where the call raised."""
        return bool(self._record.ops.flags[self._index] & OP_FAILED)

    @property
    def assumed(self) -> bool:
        """True where it ran only because an earlier failure was passed over."""
        return bool(self._record.ops.flags[self._index] & OP_ASSUMED)

    def _of_call(self, read: Callable[[int], Value], otherwise: Value) -> Value:
        call = int(self._record.ops.call[self._index])
        return read(call) if call >= 0 else otherwise

    def _of_source(self, read: Callable[[int], Value], otherwise: Value) -> Value:
        source = int(self._record.ops.source[self._index])
        return read(source) if source >= 0 else otherwise

    def __repr__(self) -> str:
        state = " failed" if self.failed else " assumed" if self.assumed else ""
        where = f" in {self.module}" if self.module else ""
        place = f" at {self.file}:{self.line}" if self.file else ""
        return f"OpRow({self._index}: {self.name} {_types(self.inputs)} -> {_types(self.outputs)}{where}{place}{state})"


class ModuleRow(Row):
    """One call of a module, or a module that was never called."""

    __slots__ = ("_call",)

    def __init__(self, record: Record, index: int, call: int) -> None:
        super().__init__(record, index)
        self._call: Final = call

    def _key(self) -> tuple[int, ...]:
        return *super()._key(), self._call

    @property
    def path(self) -> str:
        """Its dotted path, "" for the root."""
        return self._text(self._record.modules.path)

    @property
    def type(self) -> str:
        """Name of its class."""
        return self._text(self._record.modules.type)

    @property
    def config(self) -> str:
        """What its own ``extra_repr`` says."""
        return self._text(self._record.modules.config)

    @property
    def called(self) -> bool:
        """False where the row stands for a module that was never called."""
        return self._call >= 0

    @property
    def call(self) -> int:
        """Which call of the module, from 1; 0 where it was never called."""
        return int(self._record.calls.number[self._call]) if self.called else 0

    @property
    def outcome(self) -> Outcome | None:
        """``ok``, ``failed``, ``assumed`` (ran on from an earlier failure), or None where it was never called."""
        return OUTCOMES[int(self._record.calls.outcome[self._call])] if self.called else None

    @property
    def failed_itself(self) -> bool:
        """True where this very call raised, not a call of another module inside it."""
        if not self.called:
            return False
        inside = slice(int(self._record.calls.first_op[self._call]), int(self._record.calls.end_op[self._call]))
        failed = (self._record.ops.flags[inside] & OP_FAILED) > 0
        own = self._record.ops.call[inside] == self._call
        return bool((failed & own).any() if failed.any() else self.outcome == "failed" and not self._failed_inside())

    def _failed_inside(self) -> bool:
        failed = self._record.calls.outcome == OUTCOMES.index("failed")
        return bool((failed & (self._record.calls.parent == self._call)).any())

    @property
    def depth(self) -> int:
        """How many modules stand above it in the tree."""
        depth, above = 0, int(self._record.modules.parent[self._index])
        while above >= 0:
            depth, above = depth + 1, int(self._record.modules.parent[above])
        return depth

    @property
    def inputs(self) -> tuple[TensorRow, ...]:
        """The tensors among the call's arguments; empty where it was never called."""
        return _tensors(self._record, self._record.calls.inputs[self._call]) if self.called else ()

    @property
    def outputs(self) -> tuple[TensorRow, ...]:
        """The tensors that the call returned; empty where it was never called or failed for good."""
        return _tensors(self._record, self._record.calls.outputs[self._call]) if self.called else ()

    @property
    def input_shapes(self) -> tuple[Shape, ...]:
        """Shapes of the inputs."""
        return tuple(tensor.shape for tensor in self.inputs)

    @property
    def output_shapes(self) -> tuple[Shape, ...]:
        """Shapes of the outputs."""
        return tuple(tensor.shape for tensor in self.outputs)

    @property
    def params(self) -> int | None:
        """Elements of the distinct parameters in its subtree, None where a lazy module leaves them unknown."""
        return _known(int(self._record.modules.params[self._index]))

    @property
    def trainable_params(self) -> int | None:
        """Those of them that require gradients."""
        return _known(int(self._record.modules.trainable_params[self._index]))

    @property
    def param_bytes(self) -> int | None:
        """Bytes of the distinct storages of its subtree's parameters."""
        return _known(int(self._record.modules.param_bytes[self._index]))

    @property
    def local_params(self) -> int | None:
        """Elements of its subtree's parameters that lie on this rank; None where nothing of the model is sharded."""
        return _known(int(self._record.modules.local_params[self._index]))

    @property
    def local_param_bytes(self) -> int | None:
        """Bytes of its subtree's parameters that lie on this rank; None where nothing of the model is sharded."""
        return _known(int(self._record.modules.local_param_bytes[self._index]))

    @property
    def buffer_bytes(self) -> int | None:
        """Bytes of the distinct storages of its subtree's buffers."""
        return _known(int(self._record.modules.buffer_bytes[self._index]))

    @property
    def output_bytes(self) -> int | None:
        """Bytes of the distinct storages of the outputs; None where there is no call or a dtype isn't known."""
        return _storage_bytes(self.outputs) if self.outputs or self.outcome == "ok" else None

    @property
    def flops(self) -> int | None:
        """FLOPs of its ops and those of the calls inside; what is known of them where some have no formula; None without a call."""
        flops = self._flops
        known = int(flops[flops > 0].sum())
        return known if self.called and (known or self.flops_complete) else None

    @property
    def flops_complete(self) -> bool:
        """False where ``flops`` is a lower bound: some op has no formula."""
        return not bool((self._flops < 0).any())

    @property
    def _flops(self) -> Ints:
        calls = self._record.calls
        return self._record.ops.flops[calls.first_op[self._call] : calls.end_op[self._call]] if self.called else _NO_INTS

    @property
    def backward_flops(self) -> int | None:
        """FLOPs of the way back through the call and those inside; None where no backward was asked for, or nobody knows."""
        return _known(int(self._record.calls.backward_flops[self._call])) if self.called else None

    @property
    def saved_bytes(self) -> int | None:
        """Bytes that autograd keeps for its ops and those of the calls inside, parameters left out; None where nobody knows."""
        return _known(int(self._record.calls.saved_bytes[self._call])) if self.called else None

    @property
    def shared_with(self) -> tuple[str, ...]:
        """Other paths of this module, or of its parameters."""
        return tuple(self._record.strings[path] for path in self._record.modules.shared_with[self._index])

    @property
    def lazy(self) -> bool:
        """True where it has parameters that are not materialised yet."""
        return bool(self._record.modules.flags[self._index] & MODULE_LAZY)

    def __repr__(self) -> str:
        state = f"call {self.call}, {_types(self.inputs)} -> {_types(self.outputs)}" if self.called else "never called"
        outcome = "" if self.outcome in ("ok", None) else f", {self.outcome}"
        return f"ModuleRow({self.path!r} {self.type}, {state}{outcome})"


def _tensors(record: Record, ids: Iterable[int]) -> tuple[TensorRow, ...]:
    return tuple(TensorRow(record, tensor) for tensor in ids)


def _children(record: Record, row: Sequence[int]) -> tuple[ChildFact, ...]:
    found: list[ChildFact] = []
    at = 0
    while at < len(row):
        name, outputs = row[at : at + 2]
        types = row[at + 2 : at + 2 + 2 * outputs]
        pairs = zip(types[::2], types[1::2], strict=True)
        found.append(ChildFact(record.strings[name], tuple((record.shapes[shape], record.strings[dtype]) for shape, dtype in pairs)))
        at += 2 + 2 * outputs
    return tuple(found)


def _types(tensors: Sequence[TensorRow]) -> str:
    return " · ".join(map(str, tensors)) or "nothing"


def _known(figure: int) -> int | None:
    return None if figure < 0 else figure


def _storage_bytes(tensors: Iterable[TensorRow]) -> int | None:
    largest: dict[int, int] = {}
    for tensor in tensors:
        size = tensor.bytes
        if size is None:
            return None
        largest[tensor.storage] = max(largest.get(tensor.storage, 0), size)
    return sum(largest.values())


class ValueRow(Row):
    """Contents of a tensor that decided what ran."""

    __slots__ = ()

    @property
    def tensor(self) -> TensorRow:
        """Whose contents."""
        return TensorRow(self._record, int(self._record.values.tensor[self._index]))

    @property
    def op(self) -> OpRow | None:
        """The op whose result depends on them; None where Python read them, as ``item()`` and branches do."""
        index = int(self._record.values.op[self._index])
        return OpRow(self._record, index) if index >= 0 else None

    @property
    def origin(self) -> ValueOrigin:
        """``read`` for real ones, ``assumed`` where nobody has them, ``random`` where they come from random numbers."""
        return VALUE_ORIGINS[int(self._record.values.origin[self._index])]

    @property
    def literal(self) -> str:
        """The number itself, "" for anything else."""
        return self._text(self._record.values.literal)

    @property
    def file(self) -> str:
        """File of the statement that needed them, "" where none is known."""
        source = self._source
        return self._record.strings[int(self._record.sources.file[source])] if source >= 0 else ""

    @property
    def line(self) -> int:
        """Line of that statement, 0 where none is known."""
        source = self._source
        return int(self._record.sources.line[source]) if source >= 0 else 0

    @property
    def code(self) -> str:
        """That statement."""
        source = self._source
        return self._record.strings[int(self._record.sources.code[source])] if source >= 0 else ""

    @property
    def _source(self) -> int:
        return int(self._record.values.source[self._index])

    def __repr__(self) -> str:
        number = f" {self.literal}" if self.literal else ""
        return f"ValueRow({self.origin}{number} of {self.tensor}, {self.file}:{self.line})"
