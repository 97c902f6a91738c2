"""The Record: one captured run as tables of columns, findings and totals. What is stored, served and shown."""

from collections.abc import Mapping
from dataclasses import dataclass

from tb_shapeplugin.record.columns import Columns, Ints, Ragged
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.memory import Memory, WhatIf
from tb_shapeplugin.record.trace import Branch, Case, Endpoint, Execution, Outcome, ValueOrigin
from tb_shapeplugin.record.values import Shape, TensorKind

# The position of a word is its number in the columns, here, in the proto and in the browser.
TENSOR_KINDS: tuple[TensorKind, ...] = ("activation", "parameter", "buffer", "input", "constant")
OUTCOMES: tuple[Outcome, ...] = ("ok", "failed", "assumed")
VALUE_ORIGINS: tuple[ValueOrigin, ...] = ("read", "assumed", "random")

# Bits of the flags columns.
TENSOR_REQUIRES_GRAD, TENSOR_ASSUMED = 1, 2
OP_FAILED, OP_ASSUMED = 1, 2
MODULE_LAZY = 1


@dataclass(frozen=True, slots=True, eq=False)
class ModuleColumns(Columns):
    """The module tree, parents before children; ``params`` and bytes are of the whole subtree, distinct ones once."""

    path: Ints  # strings
    type: Ints  # strings
    config: Ints  # strings
    parent: Ints  # modules, -1 for the root
    params: Ints  # numbers of elements; -1 unknown
    trainable_params: Ints
    param_bytes: Ints
    buffer_bytes: Ints
    local_params: Ints  # those that lie on this rank; -1 where nothing of the model is sharded
    local_param_bytes: Ints
    shared_with: Ragged  # strings
    flags: Ints


@dataclass(frozen=True, slots=True, eq=False)
class CallColumns(Columns):
    """Calls of modules in the order in which they began; the ops of call i are first_op[i] up to end_op[i]."""

    module: Ints
    number: Ints  # from 1, per module
    parent: Ints  # calls, -1 for a root
    first_op: Ints
    end_op: Ints
    inputs: Ragged  # tensors
    outputs: Ragged  # tensors
    outcome: Ints  # OUTCOMES
    saved_bytes: Ints  # that autograd keeps for its ops and those of the calls inside; -1 unknown
    backward_flops: Ints  # of the way back through it and the calls inside; -1 unknown


@dataclass(frozen=True, slots=True, eq=False)
class TensorColumns(Columns):
    """Every tensor met, by id."""

    shape: Ints  # shapes
    dtype: Ints  # strings
    device: Ints  # strings
    storage: Ints  # counted up as met
    producer: Ints  # ops, -1 for what was there before
    kind: Ints  # TENSOR_KINDS
    name: Ints  # strings
    flags: Ints


@dataclass(frozen=True, slots=True, eq=False)
class OpColumns(Columns):
    """Calls of torch functions in execution order."""

    name: Ints  # strings
    call: Ints  # calls, -1 outside any
    source: Ints  # sources, -1 unknown
    inputs: Ragged  # tensors
    outputs: Ragged  # tensors
    arguments: Ints  # argument lists
    children: Ints  # child lists
    flags: Ints
    flops: Ints  # -1 unknown


@dataclass(frozen=True, slots=True, eq=False)
class SourceColumns(Columns):
    """Statements on the stack; callers stand before those they call."""

    file: Ints  # strings
    line: Ints
    end_line: Ints
    column: Ints
    end_column: Ints
    code: Ints  # strings
    function: Ints  # strings
    text: Ints  # strings
    text_line: Ints
    caller: Ints  # sources, -1 at the bottom


@dataclass(frozen=True, slots=True, eq=False)
class ValueColumns(Columns):
    """Contents of tensors that decided what ran."""

    tensor: Ints  # tensors
    op: Ints  # ops whose result depends on them, -1 where Python read them
    source: Ints  # sources, -1 unknown
    origin: Ints  # VALUE_ORIGINS
    literal: Ints  # strings, of a single number


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole model's figures; None where nobody knows.

    Parameters are distinct Parameter objects, bytes distinct storages at their real dtype. ``saved_bytes`` is what autograd keeps for
    a backward, parameters left out. Peaks are the most bytes of tensors alive at once: up to the end of the forward, in the iteration
    that makes the optimizer's state, in a steady one; without training steps all three are the forward's.
    """

    params: int | None
    trainable_params: int | None
    param_bytes: int | None
    buffer_bytes: int | None
    input_bytes: int | None
    output_bytes: int | None
    saved_bytes: int | None = None
    gradient_bytes: int | None = None
    optimizer_bytes: int | None = None
    peak_forward_bytes: int | None = None
    peak_first_bytes: int | None = None
    peak_bytes: int | None = None
    packed_params: int | None = None  # elements of quantised weights that are no Parameters
    packed_bytes: int | None = None
    flops: int | None = None  # of the forward; one multiply-add is two
    flops_complete: bool | None = None  # False: some op has no formula, so that it is at least that many
    backward_flops: int | None = None  # of the backward
    local_params: int | None = None  # elements that lie on this rank; None where nothing is sharded
    local_param_bytes: int | None = None  # and their bytes


@dataclass(frozen=True, slots=True)
class Record:
    """One captured run. Columns hold indices into the tables named beside them."""

    name: str
    completed: bool
    error: str
    execution: Execution
    unchecked: tuple[str, ...]
    versions: Mapping[str, str]
    strings: tuple[str, ...]  # strings[0] is ""
    shapes: tuple[Shape, ...]
    argument_lists: Ragged  # each row: name, literal, name, literal … (strings); row 0 is empty
    child_lists: Ragged  # each row: name (strings), number of outputs, then shape, dtype of each …; row 0 is empty
    modules: ModuleColumns
    calls: CallColumns
    tensors: TensorColumns
    ops: OpColumns
    sources: SourceColumns
    values: ValueColumns
    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]
    totals: Totals
    findings: tuple[Finding, ...] = ()
    branches: tuple[Branch, ...] | None = None  # that never ran; None: nobody asked
    cases: tuple[Case, ...] = ()  # of a union of several inputs; () for a single run
    memory: Memory | None = None  # None: nobody asked, or the run didn't complete
    what_if: WhatIf | None = None  # None: nobody asked
