"""Each kind of mismatch: a call that fails so, and a near twin that gets another kind."""

from pathlib import Path

import pytest

from tb_shapeplugin.analyse.mismatches import registered as kinds
from tb_shapeplugin.analyse.mismatches.explanation import Explanation
from tb_shapeplugin.analyse.mismatches.registered import MISMATCHES, explain
from tb_shapeplugin.record.trace import SignatureFact, Trace
from tb_shapeplugin.record.values import Opaque, OpCall, Operand
from tests.analyse.failing_calls import by_shape, failing, linear, tensor

F = "torch.nn.functional."
T = "torch.Tensor."
LSTM = {"input_size": 8, "hidden_size": 16, "num_layers": 1, "batch_first": True, "bidirectional": False, "proj_size": 0}


def conv(*shape: int) -> OpCall:
    """A conv2d that takes 3 channels with a kernel of 5."""
    return by_shape(F + "conv2d", shape, (10, 3, 5, 5))


def told(trace: Trace) -> Explanation:
    """What is said about the only failure."""
    return explain(trace.failures[0], trace)


BY_OPERANDS: dict[str, tuple[OpCall, OpCall]] = {
    # kind: (a call that fails so, a near twin of another kind)
    "linear_in_features": (linear(4, 864), by_shape(T + "matmul", (4, 864), (1176, 120))),
    "matmul_dims": (by_shape(T + "matmul", (1, 784), (10, 784)), by_shape(T + "matmul", (2, 4, 8), (3, 8, 5))),
    "conv_channels": (conv(1, 36, 42, 3), conv(2, 1, 36, 42, 3)),
    "conv_kernel": (conv(1, 3, 4, 9), conv(1, 4, 4, 9)),
    "norm_features": (by_shape(F + "batch_norm", (2, 36, 9), (9,), (9,)), by_shape(F + "batch_norm", (36,), (9,), (9,))),
    "norm_batch_one": (
        OpCall(F + "batch_norm", (tensor(0, 1, 6), tensor(1, 6), tensor(2, 6), None, None, True)),
        OpCall(F + "batch_norm", (tensor(0, 1, 5), tensor(1, 6), tensor(2, 6), None, None, False)),
    ),
    "rank": (by_shape(F + "conv1d", (32, 24, 1, 12), (16, 24, 3)), by_shape(F + "conv1d", (32, 25, 12), (16, 24, 3))),
    "divisible": (OpCall(F + "group_norm", (tensor(0, 2, 10, 4), 3)), OpCall(F + "group_norm", (tensor(0, 2, 10, 4), 3, tensor(1, 9)))),
    "cat": (
        OpCall("torch.cat", ((tensor(0, 1, 16, 11, 11), tensor(1, 1, 16, 10, 10)), 1)),
        OpCall("torch.cat", ((tensor(0, 1, 16, 11, 11), tensor(1, 16, 11, 11)), 1)),
    ),
    "stack_ragged": (
        OpCall("torch.stack", ((tensor(0, 1, 5), tensor(1, 2, 5)),)),
        OpCall("torch.cat", ((tensor(0, 1, 5), tensor(1, 1, 6)),)),
    ),
    "broadcast": (by_shape(T + "add", (1, 2, 37), (1, 2, 36)), OpCall(T + "masked_fill", (tensor(0, 37), tensor(1, 36, dtype="bool"), 0))),
    "mask_shape": (
        OpCall(T + "__setitem__", (tensor(0, 5, 13, 13), tensor(1, 845, dtype="bool"), 0)),
        OpCall(T + "__setitem__", (tensor(0, 5, 13, 13), Opaque("slice", "0:2"), tensor(1, 12))),
    ),
    "view_numel": (OpCall(T + "view", (tensor(0, 16, 10), 64, 10)), OpCall(T + "permute", (tensor(0, 16, 10), 0, 2, 1))),
    "split_sizes": (OpCall(T + "split", (tensor(0, 4, 8), (3, 4), 1)), OpCall(T + "split", (tensor(0, 4, 8), (3, 4), 2))),
    "pad_size": (
        OpCall(F + "pad", (tensor(0, 1, 1, 4), (0, 4), "reflect")),
        OpCall(F + "pad", (tensor(0, 4), (0, 4, 1, 1), "constant")),
    ),
    "index_shape": (
        OpCall(T + "gather", (tensor(0, 4, 6, 128), 1, tensor(1, 4, 1, 300, dtype="int64"))),
        OpCall(T + "gather", (tensor(0, 4, 6, 128), 3, tensor(1, 4, 1, 128, dtype="int64"))),
    ),
    "index_range": (
        OpCall(F + "embedding", (Operand(0, (1, 4), "int64", low=0, high=100), tensor(1, 100, 8))),
        OpCall(F + "embedding", (tensor(0, 1, 4), tensor(1, 100, 8))),
    ),
    "loss_target_range": (
        OpCall(F + "cross_entropy", (tensor(0, 3, 13), Operand(1, (3,), "int64", low=1, high=13))),
        OpCall(F + "cross_entropy", (tensor(0, 3, 13), Operand(1, (4,), "int64", low=1, high=13))),
    ),
    "attn_layout": (
        by_shape(F + "scaled_dot_product_attention", (2, 5, 4), (2, 6, 5), (2, 6, 5)),
        by_shape(F + "scaled_dot_product_attention", (2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 7)),
    ),
    "loss_target_shape": (
        OpCall(F + "cross_entropy", (tensor(0, 8, 4), tensor(1, 32, dtype="int64"))),
        by_shape(F + "cosine_embedding_loss", (46, 16, 50), (46, 16, 50), (1,)),
    ),
    "seq_lengths": (
        OpCall("torch.nn.utils.rnn.pack_padded_sequence", (tensor(0, 4, 9, 6), tensor(1, 12, dtype="int64"), True)),
        OpCall("torch.nn.utils.rnn.pack_padded_sequence", (tensor(0, 4), tensor(1, 4, dtype="int64"))),
    ),
    "collective": (
        OpCall("torch.distributed.all_gather", ((tensor(0, 4, 3),), (tensor(1, 5, 3),)), {"form": "gathered", "ranks": 1}),
        OpCall(T + "gather", (tensor(0, 4, 3), 1, tensor(1, 5, 3, dtype="int64"))),
    ),
    "dtype": (
        OpCall(F + "linear", (tensor(0, 3, 20, dtype="float64"), tensor(1, 4, 20))),
        OpCall(F + "linear", (tensor(0, 3, 21, dtype="float64"), tensor(1, 4, 20))),
    ),
    "device": (
        OpCall(T + "add", (tensor(0, 2, 6, device="cuda:0"), tensor(1, 6))),
        OpCall(T + "add", (tensor(0, 2, 6, device="cuda:0"), tensor(1, 7))),
    ),
}

BY_WORDS: dict[str, tuple[str, str, str, dict[str, int], dict[str, int]]] = {
    # kind: (op, type of exception, torch's message, got, want): calls whose operands nobody has
    "linear_in_features": (
        "torch.nn.Linear",
        "RuntimeError",
        "mat1 and mat2 shapes cannot be multiplied (4x864 and 1176x120)",
        {"in_features": 864},
        {"in_features": 1176},
    ),
    "matmul_dims": (
        "torch.mm",
        "RuntimeError",
        "mat1 and mat2 shapes cannot be multiplied (1x784 and 10x784)",
        {"inner": 784},
        {"inner": 10},
    ),
    "conv_channels": (
        "aten.convolution",
        "RuntimeError",
        "Given groups=1, weight of size [10, 3, 3, 3], expected input[1, 36, 42, 3] to have 3 channels, but got 36 channels instead",
        {"channels": 36},
        {"channels": 3},
    ),
    "conv_kernel": (
        "aten.convolution",
        "RuntimeError",
        "Calculated padded input size per channel: (4 x 9). Kernel size: (5 x 5). Kernel size can't be greater than actual input size",
        {"size": 4},
        {"min_size": 5},
    ),
    "norm_features": (
        "aten.batch_norm",
        "RuntimeError",
        "running_mean should contain 36 elements not 2048",
        {"features": 36},
        {"features": 2048},
    ),
    "norm_batch_one": (
        "aten.batch_norm",
        "ValueError",
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 6])",
        {"values": 1},
        {"min_values": 2},
    ),
    "rank": ("torch.nn.BatchNorm1d", "ValueError", "expected 2D or 3D input (got 4D input)", {"ndim": 4}, {"ndim": 2}),
    "cat": (
        "aten.cat",
        "RuntimeError",
        "Sizes of tensors must match except in dimension 1. Expected size 11 but got size 10 for tensor number 1 in the list.",
        {"size": 10},
        {"size": 11},
    ),
    "stack_ragged": (
        "aten.stack",
        "RuntimeError",
        "stack expects each tensor to be equal size, but got [1, 5] at entry 0 and [2, 5] at entry 1",
        {"size": 2},
        {"size": 1},
    ),
    "broadcast": (
        "aten.add",
        "RuntimeError",
        "The size of tensor a (37) must match the size of tensor b (36) at non-singleton dimension 2",
        {"size": 37},
        {"size": 36},
    ),
    "mask_shape": (
        "aten.index",
        "IndexError",
        "The shape of the mask [845] at index 0 does not match the shape of the indexed tensor [5, 13, 13] at index 0",
        {"size": 845},
        {"size": 5},
    ),
    "view_numel": (
        "aten.view",
        "RuntimeError",
        "shape '[-1, 1152]' is invalid for input of size 720",
        {"numel": 720},
        {"multiple_of": 1152},
    ),
    "split_sizes": (
        "aten.split",
        "RuntimeError",
        "split_with_sizes expects split_sizes to sum exactly to 8 (input tensor's size at dimension 1), but got split_sizes=[3, 4]",
        {"size": 8},
        {"sum": 7},
    ),
    "index_range": (
        "aten.index",
        "IndexError",
        "index 13 is out of bounds for dimension 0 with size 13",
        {"max_index": 13},
        {"below": 13},
    ),
    "rnn_input": (
        "torch.nn.LSTM",
        "RuntimeError",
        "input.size(-1) must be equal to input_size. Expected 1024, got 768",
        {"input_size": 768},
        {"input_size": 1024},
    ),
    "rnn_state": (
        "torch.nn.GRU",
        "RuntimeError",
        "Expected hidden size (1, 8, 64), got [1, 32, 64]",
        {"batch": 32},
        {"batch": 8},
    ),
    "seq_lengths": (
        "aten._pack",
        "RuntimeError",
        "Expected `len(lengths)` to be equal to batch_size, but got 12 (batch_size=4)",
        {"lengths": 12},
        {"batch": 4},
    ),
    "attn_layout": (
        "aten.mha",
        "AssertionError",
        "was expecting embedding dimension of 8, but got 6",
        {"width": 6},
        {"width": 8},
    ),
    "loss_target_shape": (
        "aten.nll",
        "ValueError",
        "Expected input batch_size (8) to match target batch_size (32).",
        {"rows": 32},
        {"rows": 8},
    ),
    "divisible": (
        "aten.pixel_shuffle",
        "RuntimeError",
        "expects its input's channels to be divisible, but input.size(-3)=10 is not divisible by 4",
        {"size": 10},
        {"multiple_of": 4},
    ),
    "dtype": (
        "aten.index_put",
        "RuntimeError",
        "Index put requires the source and destination dtypes match, got Float for the destination and BFloat16 for the source.",
        {"float_bits": 16},
        {"float_bits": 32},
    ),
    "device": (
        "aten.add",
        "RuntimeError",
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        {"devices": 2},
        {"devices": 1},
    ),
    "state_dict": (
        "torch.nn.Module.load_state_dict",
        "RuntimeError",
        "Error(s) in loading state_dict for Sequential:\n\tsize mismatch for fc.weight: copying a param with shape torch.Size([1000, 8]) "
        "from checkpoint, the shape in current model is torch.Size([50, 8]).",
        {"out_features": 1000},
        {"out_features": 50},
    ),
    "compile_guard": (
        "torch.compile",
        "ConstraintViolationError",
        "Constraints violated!\n  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (5).",
        {"size": 5},
        {"size": 5},
    ),
    "out_of_memory": ("aten.empty", "OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB", {}, {}),
    "opaque": ("aten.odd", "RuntimeError", "something nobody knows", {}, {}),
}


@pytest.mark.parametrize("kind", BY_OPERANDS)
def test_a_kind_is_recognised_by_its_operands(kind: str) -> None:
    """Without a word of torch's the operands alone say what is wrong."""
    found = told(failing(BY_OPERANDS[kind][0]))
    assert found.kind == kind
    assert found.types
    assert all(str(number) in found.message for number in (*found.got.values(), *found.want.values()) if kind != "dtype")


@pytest.mark.parametrize("kind", BY_OPERANDS)
def test_a_near_twin_is_another_kind(kind: str) -> None:
    """What only looks alike isn't called so."""
    assert told(failing(BY_OPERANDS[kind][1])).kind not in (kind, "opaque")


@pytest.mark.parametrize("kind", BY_WORDS)
def test_a_kind_is_recognised_by_torchs_words_where_no_rule_knows_the_call(kind: str) -> None:
    """A call inside torch, or one without operands, is told by what the exception says."""
    op, error, message, got, want = BY_WORDS[kind]
    found = told(failing(OpCall(op), message, error=error))
    assert (found.kind, dict(found.got), dict(found.want)) == (kind, got, want)


def test_words_of_another_kind_are_not_mistaken() -> None:
    """Each of those messages belongs to one kind alone, whatever the type of the exception is."""
    for kind, (op, _, message, _, _) in BY_WORDS.items():
        if kind != "out_of_memory":
            assert told(failing(OpCall(op), message, error="Exception")).kind == kind


def test_the_sentence_leads_with_the_module_and_the_weight_is_turned_to_face_the_input() -> None:
    """The line that people read first."""
    found = told(failing(linear(4, 864), path="fc1"))
    assert found.message == "fc1: the last dim of its input is 864, in_features is 1176"
    assert found.types == "f32[4,864] · f32[1176,120]"
    assert [(mark.tensor, mark.dim) for mark in found.marks] == [(0, 1), (1, 1)]


def test_at_the_root_the_sentence_leads_with_the_op() -> None:
    """A failure of the model's own forward has no path."""
    assert told(failing(BY_OPERANDS["view_numel"][0])).message.startswith("view: ")


def test_a_lstm_is_read_with_its_modules_attributes() -> None:
    """Its own check fails in Python, so the sizes are the module's."""
    call = OpCall("torch.nn.LSTM", (tensor(0, 2, 6, 7),))
    assert told(failing(call, path="lstm", attributes=LSTM)).kind == "rnn_input"
    state = tensor(1, 1, 32, 16)
    found = told(failing(OpCall("torch.nn.LSTM", (tensor(0, 2, 6, 8), (state, state))), path="lstm", attributes=LSTM))
    assert (found.kind, dict(found.got), dict(found.want)) == ("rnn_state", {"batch": 32}, {"batch": 2})


def test_swapped_axes_of_a_state_are_told_with_both_sides() -> None:
    """Layers and batch exchanged: both dims are named, so that the exchange shows."""
    state = tensor(1, 2, 1, 16)
    found = told(failing(OpCall("torch.nn.LSTM", (tensor(0, 2, 6, 8), (state, state))), path="lstm", attributes=LSTM))
    assert (dict(found.got), dict(found.want)) == ({"layers": 2, "batch": 1}, {"layers": 1, "batch": 2})


def test_a_signature_that_does_not_fit_is_printed_beside_what_was_given() -> None:
    """Counts are eager's, which count self."""
    signature = SignatureFact("Net.forward", "(x)", "(f32[2,3], f32[2,3])", takes=1, gave=2)
    message = "Net.forward() takes 2 positional arguments but 3 were given"
    found = told(failing(OpCall("python.call"), message, error="TypeError", signature=signature))
    assert (found.kind, dict(found.got), dict(found.want)) == ("call_signature", {"arguments": 3}, {"arguments": 2})
    assert "(x)" in found.message and "(f32[2,3], f32[2,3])" in found.message


def test_a_tuple_where_a_tensor_belongs_is_a_wrong_call() -> None:
    """An LSTM inside nn.Sequential hands on its output and its state."""
    pair = (tensor(0, 2, 6, 8), (tensor(1, 1, 2, 8), tensor(2, 1, 2, 8)))
    message = "linear(): argument 'input' (position 1) must be Tensor, not tuple"
    found = told(failing(OpCall(F + "linear", (pair,)), message, error="TypeError", path="1"))
    assert (found.kind, dict(found.got), dict(found.want)) == ("call_signature", {"values": 2}, {"values": 1})


def test_builtins_that_list_what_they_were_given_are_read_too() -> None:
    """conv1d words the same fault in another way; where nobody has the value, no number is made up."""
    pair = (tensor(0, 3, 5, 6), tensor(1, 1, 5, 6))
    message = "conv1d() received an invalid combination of arguments - got (tuple, Parameter), but expected one of:"
    found = told(failing(OpCall("torch.nn.Conv1d", (pair,)), message, error="TypeError", path="1"))
    assert (found.kind, dict(found.got)) == ("call_signature", {"values": 2})
    found = told(failing(OpCall("python.error"), "'tuple' object has no attribute 'mean'", error="AttributeError"))
    assert (found.kind, found.message, dict(found.got)) == ("call_signature", "forward: a tuple is used where a tensor belongs", {})
    assert told(failing(OpCall("python.error"), "'tuple' object has no attribute 'append'", error="AttributeError")).kind == "user_error"


def test_what_the_code_itself_raised_is_told_as_such() -> None:
    """An assert of the user's is no mismatch of ours, even when it speaks of shapes."""
    found = told(failing(OpCall("python.raise"), "shape '[2]' is invalid for input of size 3", error="AssertionError", path="head"))
    assert found.kind == "user_error"
    assert found.message == "head: the code itself raised AssertionError: shape '[2]' is invalid for input of size 3"


def test_a_view_of_right_sizes_that_fails_is_a_matter_of_strides() -> None:
    """The sizes agree: view_numel would be wrong."""
    message = "view size is not compatible with input tensor's size and stride (at least one dimension spans two subspaces)"
    found = told(failing(OpCall(T + "view", (tensor(0, 5, 3, 4), 5, 12)), message))
    assert (found.kind, dict(found.got), dict(found.want)) == ("view_stride", {"rows": 5}, {"rows": 5})
    assert told(failing(OpCall(T + "view", (tensor(0, 5, 3, 4), 5, 13)), message)).kind == "view_numel"


def test_a_constructors_numbers_are_its_arguments() -> None:
    """embed_dim must be divisible by num_heads says which two, not how large they are."""
    call = OpCall("torch.nn.MultiheadAttention.__init__", (), {"embed_dim": 100, "num_heads": 8})
    found = told(failing(call, "embed_dim must be divisible by num_heads", error="AssertionError"))
    assert (found.kind, dict(found.got), dict(found.want)) == ("divisible", {"embed_dim": 100}, {"multiple_of": 8})
    assert found.message == "MultiheadAttention: embed_dim is 100, which is no multiple of num_heads 8"


def test_unpacking_too_few_axes_is_a_matter_of_rank() -> None:
    """``steps, batch, width = query.shape`` of a matrix."""
    found = told(
        failing(OpCall("python.unpack", (tensor(0, 4, 8), 3, 2)), "not enough values to unpack (expected 3, got 2)", error="ValueError")
    )
    assert (found.kind, dict(found.got), dict(found.want)) == ("rank", {"ndim": 2}, {"ndim": 3})


def test_every_kind_has_a_file_an_entry_and_a_case() -> None:
    """A kind that is registered is tested, a file that lies there is registered."""
    names = [kind for kind, _ in MISMATCHES]
    assert len(set(names)) == len(names)
    files = {path.stem for path in Path(kinds.__file__).parent.glob("*.py")} - {"__init__", "explanation", "opaque", "registered"}
    assert files == set(names)
    assert set(names) <= {*BY_OPERANDS, *BY_WORDS, "user_error", "call_signature", "view_stride"}
