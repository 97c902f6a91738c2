"""What a fix is made from: a failing call with its surroundings, and the questions that all kinds of fixes ask of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

from tb_shapeplugin.analyse.origins.replay import Replay
from tb_shapeplugin.fixes.impact import batch_of
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.finding import Clash, Finding, Fix
from tb_shapeplugin.record.trace import CallFact, Failure, ModuleFact, OpFact, Trace
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

Change: TypeAlias = Mapping[str, Any]  # Any: values are of the type of what they replace

_LAYERS = re.compile(
    r"(Lazy|Parametrized)?(Linear|NonDynamicallyQuantizableLinear|Bilinear|Identity|Conv(Transpose)?[123]d|\w*Norm([123]d)?|Embedding(Bag)?|(LSTM|GRU|RNN)(Cell)?|"
    r"MultiheadAttention|Transformer\w*|Unflatten|Flatten|\w*Pool[123]d|\w*Loss|Pixel(Uns|S)huffle|Upsample\w*|Fold|Unfold|\w*Pad[123]d|"
    r"Softmax\w*|LogSoftmax|\w*ReLU|GELU|SiLU|GLU|Sigmoid|Tanh|Dropout\w*|CosineSimilarity|PairwiseDistance|ChannelShuffle)$"
)
_TORCHS_NORM = re.compile(r"(Parametrized|Lazy|Sync)?(Batch|Instance|Layer|Group|RMS|LocalResponse)Norm([123]d)?$")
_MOST_MAKERS = 8  # calls before the failing one that are looked at, of each operand
_LONGEST_WALK = 500  # ops that a walk back visits


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fix that may be tried. ``effort`` orders candidates, the most plausible (below 1) first."""

    fix: Fix
    effort: float = 1.0
    reshapes: bool = False  # other shapes downstream are what it is for, and no sign of a coincidence


@dataclass(frozen=True)
class Situation:
    """A failure with what was found about it."""

    trace: Trace
    failure: Failure
    finding: Finding
    clash: Clash | None

    @property
    def call(self) -> OpCall:
        """The call that failed."""
        return self.failure.call

    @property
    def kind(self) -> str:
        """The kind of mismatch."""
        return self.finding.kind

    @cached_property
    def module(self) -> ModuleFact | None:
        """The module that it failed in, None outside any."""
        return self.trace.modules[self.failure.module] if self.failure.module >= 0 else None

    @property
    def path(self) -> str:
        """That module's dotted path."""
        return self.module.path if self.module else ""

    @cached_property
    def layer(self) -> ModuleFact | None:
        """The failing module where it is one of torch's own layers: its arguments can be changed, its code can't."""
        return self.module if self.module is not None and is_layer(self.module) else None

    @property
    def in_torchs_code(self) -> bool:
        """Did it fail in torch's own code, where no call can be written otherwise? Norms of a library have code of their own."""
        return self.layer is not None and runs_torchs_code(self.layer)

    @cached_property
    def module_call(self) -> CallFact | None:
        """The call of the failing module, None outside any."""
        call = self.trace.ops[self.failure.op].call
        return self.trace.calls[call] if call >= 0 else None

    @cached_property
    def replay(self) -> Replay:
        """The way to the failing call, to be gone through again with other shapes."""
        return Replay(self.trace, self.failure)

    @cached_property
    def batch(self) -> int:
        """How many samples the model was given at once; 0 where its inputs don't tell."""
        return batch_of(self.trace)

    def numbers(self) -> tuple[int | None, int | None]:
        """What is had and what is wanted, where each is one number."""
        got, want = list(self.finding.got.values()), list(self.finding.want.values())
        return (got[0] if len(got) == 1 else None), (want[0] if len(want) == 1 else None)

    def operand(self, tensor: int) -> Operand | None:
        """The failing call's operand of that id."""
        return next((operand for operand in self.call.operands() if operand.id == tensor), None)

    def fits(self, *operands: Operand) -> bool:
        """Would the call run, as far as the rules know, with these operands in the place of those of their ids?"""
        if self.call.name.startswith("python."):
            return True
        attributes = self.module.attributes if self.module else None
        return requires(with_operands(self.call, {operand.id: operand for operand in operands}), attributes) is None

    def input_name(self, tensor: int) -> str | int | None:
        """The model's argument that a tensor is: its name, or its position among ``*args``; None where it is none, or nested."""
        endpoint = next((endpoint for endpoint in self.trace.inputs if endpoint.tensor == tensor), None)
        if endpoint is None:
            return None
        if endpoint.name.isidentifier():
            return endpoint.name
        found = re.fullmatch(r"args\[(\d+)\]", endpoint.name)
        return int(found[1]) if found else None

    def upstream(self, tensor: int) -> Iterator[int]:
        """The tensors that a tensor was computed from, the nearest first; no parameters."""
        waiting, seen = [tensor], {tensor}
        while waiting and len(seen) < _LONGEST_WALK:
            here = waiting.pop(0)
            yield here
            producer = self.trace.tensors[here].producer
            for source in self.trace.ops[producer].inputs if producer >= 0 else ():
                if source not in seen and self.trace.tensors[source].kind not in ("parameter", "buffer"):
                    seen.add(source)
                    waiting.append(source)

    def makers(self, tensor: int) -> Iterator[OpFact]:
        """The ops that a tensor was computed by, the nearest first."""
        for here in self.upstream(tensor):
            producer = self.trace.tensors[here].producer
            if producer >= 0:
                yield self.trace.ops[producer]

    def written_before(self) -> Iterator[OpFact]:
        """The user's own calls before the failing one that its operands come from, the nearest first."""
        seen: set[int] = set()
        files = self.files()
        for operand in self.call.operands():
            for op in islice(self.makers(operand.id), _MOST_MAKERS):
                module = self.module_of(op)
                own = op.source >= 0 and self.trace.sources[op.source].file in files
                if own and op.outputs[0] not in seen and not op.failed and (module is None or not runs_torchs_code(module)):
                    seen.add(op.outputs[0])
                    yield op

    def last_before(self) -> OpFact | None:
        """The op that ran last before the failing statement did, in the same statement: what it gave is taken apart there."""
        at = self.failure.op
        before = self.trace.ops[at - 1] if at > 0 else None
        same = before is not None and before.source >= 0 and self.trace.sources[before.source].line == self.finding.line
        return before if same and before is not None and not before.failed else None

    def module_of(self, op: OpFact) -> ModuleFact | None:
        """The module that an op ran in."""
        return self.trace.modules[self.trace.calls[op.call].module] if op.call >= 0 else None

    def files(self) -> frozenset[str]:
        """The files of the code that led to the failing call: its own, those of its callers, those of what its module called before.

        Of a layer of torch's, its caller's module.
        """
        call, sources = self.module_call, self.trace.sources
        if call is not None and self.in_torchs_code and call.parent >= 0:
            call = self.trace.calls[call.parent]
        inside = self.trace.ops[call.first_op : self.failure.op] if call is not None else ()
        found, at = {sources[op.source].file for op in inside if op.source >= 0}, self.op.source
        while at >= 0:
            found.add(sources[at].file)
            at = sources[at].caller
        return frozenset(found)

    def call_change(self, op: OpFact, /, **change: Any) -> Change:
        """A change of the call that an op of the trace was."""
        name, path = op.name.rpartition(".")[2], _path(self, op)
        flat = self.trace.modules[0].config == "function"
        index = 0
        for other in self.trace.ops:
            if other is op:
                break
            index += other.name.rpartition(".")[2] == name and (flat or _path(self, other) == path)
        return {"call": name, "module": "" if flat else path, "index": index, **change}

    @property
    def op(self) -> OpFact:
        """The failing call as an op of the trace."""
        return self.trace.ops[self.failure.op]


def _path(situation: Situation, op: OpFact) -> str:
    module = situation.module_of(op)
    return module.path if module else ""


def is_layer(module: ModuleFact) -> bool:
    """Is it one of torch's own layers?"""
    return _LAYERS.fullmatch(module.type) is not None


def runs_torchs_code(module: ModuleFact) -> bool:
    """Is its forward torch's, rather than a subclass's of which only the name says what it is, as ``LlamaRMSNorm``?"""
    return is_layer(module) and ("Norm" not in module.type or _TORCHS_NORM.fullmatch(module.type) is not None)


def with_operands(call: OpCall, operands: Mapping[int, Operand]) -> OpCall:
    """The call with some operands replaced by id.

    Example:
        >>> x = Operand(0, (4, 3), "float32")
        >>> str(with_operands(OpCall("torch.relu", (x,)), {0: replace(x, shape=(12,))}).args[0])
        'f32[12]'
    """

    def change(value: Value) -> Value:
        if isinstance(value, Operand):
            return operands.get(value.id, value)
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    return OpCall(call.name, tuple(map(change, call.args)), {name: change(value) for name, value in call.kwargs.items()})


def with_shape(operand: Operand, shape: Shape) -> Operand:
    """The operand with another shape."""
    return replace(operand, shape=shape)
