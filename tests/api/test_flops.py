"""FLOPs of models against hand formulas and against torch's own counter where that is right; one multiply-accumulate is two."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import tb_shapeplugin as shapes
from tb_shapeplugin.ops.flops_of_calls import unseen_flops

TRANSFORMERS = pytest.importorskip("transformers")


class Calls(nn.Module):
    """A function of tensors as a module; its layers are those that it is given."""

    def __init__(self, function: Callable[..., Any], *layers: nn.Module) -> None:
        super().__init__()
        self.layers, self.function = nn.ModuleList(layers), function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*self.layers, *args)


def flops_of(model: nn.Module, *args: torch.Tensor, **options: Any) -> shapes.Capture:
    """Its capture, without fixes."""
    return shapes.capture(model, args, verify_fixes=False, **options)


X = torch.zeros
# Name: model, arguments, multiply-accumulates by hand.
BY_HAND: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...], int]] = {
    "linear, the bias left out": (nn.Linear(12, 5), (X(3, 12),), 3 * 12 * 5),
    "linear over sequences": (nn.Linear(12, 5, bias=False), (X(2, 7, 12),), 2 * 7 * 12 * 5),
    "linear of one vector": (nn.Linear(12, 5), (X(12),), 12 * 5),
    "convolution": (nn.Conv2d(3, 8, 3, stride=2, padding=1), (X(2, 3, 16, 16),), 2 * 8 * 8 * 8 * 3 * 9),
    "grouped convolution": (nn.Conv2d(8, 16, 3, padding=1, groups=4), (X(2, 8, 10, 10),), 57_600),
    "depthwise convolution": (nn.Conv2d(8, 8, 3, padding=1, groups=8), (X(1, 8, 10, 10),), 100 * 8 * 9),
    "dilated convolution in one axis": (nn.Conv1d(4, 6, 3, dilation=2), (X(1, 4, 20),), 16 * 6 * 4 * 3),
    "convolution in three axes, unbatched": (nn.Conv3d(2, 4, 3, padding=1), (X(2, 5, 6, 7),), 5 * 6 * 7 * 4 * 2 * 27),
    "transposed convolution": (nn.ConvTranspose2d(8, 4, 2, stride=2), (X(1, 8, 10, 10),), 12_800),
    "grouped transposed convolution": (nn.ConvTranspose1d(8, 4, 3, groups=2), (X(2, 8, 10),), 2 * 10 * 8 * 2 * 3),
    "embedding": (nn.Embedding(50_000, 512), (X(1, 4, dtype=torch.long),), 0),
    "norms, activations and pooling": (
        nn.Sequential(nn.LayerNorm(64), nn.GELU(), nn.Softmax(-1), nn.AvgPool1d(2)),
        (X(2, 100, 64),),
        0,
    ),
    "batch norm": (nn.BatchNorm2d(8), (X(2, 8, 4, 4),), 0),
    "bilinear": (nn.Bilinear(3, 4, 5), (X(7, 3), X(7, 4)), 7 * 5 * 3 * 4),
    "matrix and vector": (Calls(torch.mv), (X(6, 8), X(8)), 48),
    "vectors": (Calls(torch.dot), (X(9), X(9)), 9),
    "batched with broadcasting": (Calls(torch.matmul), (X(5, 1, 2, 3), X(4, 3, 6)), 5 * 4 * 2 * 3 * 6),
    "vector and matrices": (Calls(lambda a, b: a @ b), (X(3), X(4, 3, 6)), 4 * 3 * 6),
    "added products": (Calls(torch.addmm), (X(5), X(3, 4), X(4, 5)), 60),
    "added batches": (Calls(torch.baddbmm), (X(2, 3, 5), X(2, 3, 4), X(2, 4, 5)), 120),
    "summed batches": (Calls(torch.addbmm), (X(3, 5), X(2, 3, 4), X(2, 4, 5)), 120),
    "outer product": (Calls(torch.outer), (X(3), X(4)), 0),
    "einsum": (Calls(lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b)), (X(2, 3, 4, 8), X(2, 3, 5, 8)), 2 * 3 * 4 * 5 * 8),
    "einsum of three": (Calls(lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c)), (X(2, 3), X(3, 4), X(4, 5)), 2 * 3 * 4 + 2 * 4 * 5),
    "tensordot": (Calls(lambda a, b: torch.tensordot(a, b, 2)), (X(2, 3, 4), X(3, 4, 5)), 2 * 12 * 5),
    "the shortest order of several": (Calls(lambda *m: torch.linalg.multi_dot(m)), (X(10, 2), X(2, 10), X(10, 3)), 2 * 10 * 3 + 10 * 2 * 3),
    "distances": (Calls(torch.cdist), (X(3, 8), X(5, 8)), 3 * 5 * 8),
    "attention": (Calls(F.scaled_dot_product_attention), (X(2, 4, 10, 16), X(2, 4, 20, 16), X(2, 4, 20, 16)), 2 * 2 * 4 * 10 * 20 * 16),
    "causal attention, no less": (
        Calls(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)),
        (X(2, 4, 10, 16),),
        2 * 2 * 4 * 10 * 10 * 16,
    ),
    "attention with few heads of keys": (
        Calls(lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True)),
        (X(2, 8, 10, 16), X(2, 2, 20, 16)),
        2 * 2 * 8 * 10 * 20 * 16,
    ),
    "masked attention": (
        Calls(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m)),
        (X(2, 4, 10, 16), X(10, 10)),
        2 * 2 * 4 * 10 * 10 * 16,
    ),
    "unbatched LSTM": (nn.LSTM(4, 8), (X(7, 4),), 7 * (128 + 256)),
    "bidirectional LSTM of two layers": (
        nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True),
        (X(4, 6, 8),),
        4 * 6 * 2 * 64 * (8 + 16 + 32 + 16),
    ),
    "LSTM with a projection": (nn.LSTM(4, 8, proj_size=3), (X(7, 2, 4),), 7 * 2 * (32 * 4 + 32 * 3 + 8 * 3)),
    "GRU": (nn.GRU(4, 8, num_layers=2), (X(7, 2, 4),), 7 * 2 * 24 * (4 + 8 + 8 + 8)),
    "RNN": (nn.RNN(4, 8), (X(7, 2, 4),), 7 * 2 * 8 * 12),
    "LSTM cell": (nn.LSTMCell(4, 8), (X(2, 4),), 2 * 32 * 12),
    "packed sequences": (
        Calls(lambda lstm, x: lstm(nn.utils.rnn.pack_padded_sequence(x, [5, 3], batch_first=True)), nn.LSTM(4, 8, batch_first=True)),
        (X(2, 5, 4),),
        8 * 32 * 12,
    ),
    "a layer called a hundred times": (
        Calls(lambda fc, x: [x := fc(x) for _ in range(100)][-1], nn.Linear(64, 64)),
        (X(2, 64),),
        100 * 2 * 64 * 64,
    ),
    "LSTM of so many weights that their literal is cut short": (
        nn.LSTM(4, 8, num_layers=9, bidirectional=True),
        (X(3, 2, 4),),
        3 * 2 * 2 * 32 * (4 + 8 + 8 * (16 + 8)),
    ),
    "recurrent function of layers that share weights": (
        Calls(lambda rnn, x, h: torch.rnn_tanh(x, h, [*rnn._flat_weights] * 2, True, 2, 0.0, False, False, False), nn.RNN(4, 4)),
        (X(3, 2, 4), X(2, 2, 4)),
        2 * 3 * 2 * 4 * 8,
    ),
    "GRU cell": (nn.GRUCell(4, 8), (X(2, 4),), 2 * 24 * 12),
    "unbatched RNN cell": (nn.RNNCell(4, 8), (X(4),), 8 * 12),
    "added in place": (Calls(lambda a, b, c: a.clone().addmm_(b, c)), (X(3, 5), X(3, 4), X(4, 5)), 60),
    "batches added in place": (Calls(lambda a, b, c: a.clone().baddbmm_(b, c)), (X(2, 3, 5), X(2, 3, 4), X(2, 4, 5)), 120),
    "batches summed in place": (Calls(lambda a, b, c: a.clone().addbmm_(b, c)), (X(3, 5), X(2, 3, 4), X(2, 4, 5)), 120),
    "vector added in place": (Calls(lambda a, b, c: a.clone().addmv_(b, c)), (X(3), X(3, 4), X(4)), 12),
    "written to what is given": (Calls(lambda a, b: torch.mm(a, b, out=torch.empty(3, 5))), (X(3, 4), X(4, 5)), 60),
    "by keyword": (Calls(lambda a, b: torch.mm(input=a, mat2=b)), (X(3, 4), X(4, 5)), 60),
    "inner product": (Calls(torch.inner), (X(3, 4), X(5, 2, 4)), 3 * 5 * 2 * 4),
    "vectors by elementwise products": (Calls(torch.linalg.vecdot), (X(3, 4), X(3, 4)), 0),
    "distances of many rows, by a product": (Calls(torch.cdist), (X(3, 1, 30, 8), X(5, 40, 8)), 3 * 5 * 30 * 40 * 8),
    "convolution padded by hand": (nn.Conv2d(2, 4, 4, padding="same"), (X(1, 2, 5, 6),), 5 * 6 * 4 * 2 * 16),
    "transposed convolution in three axes": (nn.ConvTranspose3d(2, 4, 3), (X(1, 2, 5, 6, 7),), 5 * 6 * 7 * 2 * 4 * 27),
    "attention without weights": (
        Calls(lambda mha, x: mha(x, x, x, need_weights=False), nn.MultiheadAttention(16, 4, batch_first=True)),
        (X(2, 9, 16),),
        2 * 9 * 4 * 16 * 16 + 2 * 2 * 9 * 9 * 16,
    ),
    "attention over another sequence": (
        Calls(lambda mha, x, y: mha(x, y, y), nn.MultiheadAttention(16, 4, batch_first=True)),
        (X(2, 9, 16), X(2, 4, 16)),
        2 * (9 + 4) * 2 * 16 * 16 + 2 * 2 * 9 * 4 * 16,
    ),
    "attention over keys and values of other features": (
        Calls(lambda mha, x, y, z: mha(x, y, z), nn.MultiheadAttention(16, 4, batch_first=True, kdim=8, vdim=12)),
        (X(2, 5, 16), X(2, 7, 8), X(2, 7, 12)),
        2 * 5 * 2 * 16 * 16 + 2 * 7 * 16 * (8 + 12) + 2 * 2 * 5 * 7 * 16,
    ),
    "encoder and decoder": (
        Calls(lambda model, x, y: model(x, y), nn.Transformer(16, 4, 1, 1, 32, batch_first=True)),
        (X(2, 5, 16), X(2, 6, 16)),
        (2 * 5 * (4 * 256 + 2 * 512) + 2 * 2 * 25 * 16)
        + (2 * 6 * (4 * 256 + 2 * 512) + 2 * 2 * 36 * 16)
        + (2 * (6 + 5) * 2 * 256 + 2 * 2 * 6 * 5 * 16),
    ),
    "attention layer": (
        Calls(lambda mha, x: mha(x, x, x), nn.MultiheadAttention(16, 4, batch_first=True)),
        (X(2, 9, 16),),
        2 * 9 * 4 * 16 * 16 + 2 * 2 * 9 * 9 * 16,
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_layer_takes_what_its_formula_says(name: str) -> None:
    """In training and in inference, at the shape level and for real."""
    model, args, macs = BY_HAND[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train in (True, False):
            with torch.set_grad_enabled(train):
                for execution in ("auto", "real"):
                    totals = flops_of(model.train(train), *args, execution=execution).totals
                    assert (totals.flops, totals.flops_complete) == (2 * macs, True)


SEVERAL_PRODUCTS = {"einsum of three", "the shortest order of several"}  # whose order isn't told by shapes


@pytest.mark.parametrize("name", BY_HAND)
def test_inference_mode_hears_of_whole_functions_and_counts_the_same(name: str) -> None:
    """There torch hands down ``conv2d`` and ``einsum`` themselves; around the capture or inside the model, none may count as nothing."""
    model, args, macs = BY_HAND[name]
    expected = (None, False) if name in SEVERAL_PRODUCTS else (2 * macs, True)

    def inside(*given: Any) -> Any:
        with torch.inference_mode():
            return model(*given)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.eval()
        totals = flops_of(Calls(inside), *args).totals
        assert (totals.flops, totals.flops_complete) == expected
        with torch.inference_mode():
            totals = flops_of(model, *args).totals
        assert (totals.flops, totals.flops_complete) == expected


class SmallVision(nn.Module):
    """A class token before 196 patches, one encoder layer, a head on the token."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.places = nn.Parameter(X(1, 1, 64)), nn.Parameter(X(1, 197, 64))
        self.encoder, self.head = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.places
        result: torch.Tensor = self.head(self.encoder(x)[:, 0])
        return result


@pytest.mark.parametrize("train", [True, False])
def test_a_fused_encoder_layer_counts_as_what_it_computes(train: bool) -> None:
    """Linear 19,367,168 + attention 9,935,104 multiply-accumulates; torch's counter says 2,560 FLOPs on the fused path."""
    model = SmallVision().train(train)
    with torch.set_grad_enabled(train):
        capture = flops_of(model, X(2, 196, 64))
    assert capture.totals.flops == 2 * (19_367_168 + 9_935_104) == 58_604_544


def test_a_vision_transformer_takes_what_its_formula_says() -> None:
    """ViT-B/16 at 224 × 224: twelve layers of projections, scores and feed-forward over 197 positions, patches and a head."""
    config = TRANSFORMERS.ViTConfig(num_labels=1000)
    with torch.device("meta"):
        model = TRANSFORMERS.ViTForImageClassification(config)
    macs = 12 * (197 * 768 * 2304 + 197 * 768 * 768 + 2 * 197 * 768 * 3072 + 2 * 197 * 197 * 768) + 196 * 768 * 768 + 768 * 1000
    assert macs == 17_563_828_224
    assert flops_of(model, X(1, 3, 224, 224, device="meta")).totals.flops == 2 * macs


def _tokens(batch: int, length: int) -> torch.Tensor:
    return torch.zeros(batch, length, dtype=torch.long)


def test_language_models_take_what_their_formulas_say() -> None:
    """BERT with its pooler, GPT-2 with a head of tied words, Llama with fewer heads of keys."""
    bert = TRANSFORMERS.BertModel(TRANSFORMERS.BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64))
    rows = 3 * 10
    assert flops_of(bert, _tokens(3, 10)).totals.flops == 2 * (2 * (rows * 32 * (4 * 32 + 2 * 64) + 2 * rows * 10 * 32) + 3 * 32 * 32)
    gpt2 = TRANSFORMERS.GPT2LMHeadModel(TRANSFORMERS.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100))
    expected = 2 * (2 * (rows * 32 * 12 * 32 + 2 * rows * 10 * 32) + rows * 32 * 100)
    assert shapes.capture(gpt2, (), {"input_ids": _tokens(3, 10), "use_cache": False}).totals.flops == expected
    config = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    llama = TRANSFORMERS.LlamaForCausalLM(TRANSFORMERS.LlamaConfig(**config, vocab_size=100))
    layer = rows * 32 * (2 * 32 + 2 * 16 + 3 * 48) + 2 * rows * 10 * 32
    expected = 2 * (2 * layer + rows * 32 * 100)
    assert shapes.capture(llama, (), {"input_ids": _tokens(3, 10), "use_cache": False}).totals.flops == expected


@torch.library.custom_op("shapes_test_flops::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """An op of somebody else."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


NO_FORMULA: dict[str, Callable[..., Any]] = {
    "custom": twice,
    "fft": torch.fft.fft,
    "svd": torch.linalg.svd,
    "inverse": torch.linalg.inv,
    "short-time fft": lambda x: torch.stft(x, 4, window=x[0], center=False, return_complex=True),
    "determinant": torch.logdet,
    "exponential of a matrix": torch.matrix_exp,
    "solve by a factor": lambda x: torch.cholesky_solve(x, x),
    "solve": lambda x: torch.linalg.solve(x, x),
}


SHAPES_DONT_TELL: dict[str, Callable[..., Any]] = {
    "sparse matrix": lambda x, w: x.to_sparse() @ w,
    "sparse matrix of compressed rows": lambda x, w: x.to_sparse_csr() @ w,
    "sparse product": lambda x, w: torch.sparse.mm(x.to_sparse(), w),
    "sequences of several lengths": lambda x, w: F.linear(torch.nested.nested_tensor([x, x[:2]]), w),
    "jagged sequences": lambda x, w: F.linear(torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged), w),
}


@pytest.mark.parametrize("function", SHAPES_DONT_TELL.values(), ids=SHAPES_DONT_TELL)
def test_a_product_whose_shapes_dont_tell_is_unknown(function: Callable[..., Any]) -> None:
    """Neither the dense product's FLOPs, which a sparse one doesn't take, nor those of a ragged axis as if it were empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        totals = flops_of(Calls(function), torch.eye(4), X(4, 4)).totals
    assert (totals.flops, totals.flops_complete) == (None, False)


@pytest.mark.parametrize("function", NO_FORMULA.values(), ids=NO_FORMULA)
def test_what_has_no_formula_is_unknown_and_the_rest_a_lower_bound(function: Callable[..., Any]) -> None:
    """Never 0: the op says unknown, the sum says that it isn't complete."""
    model = Calls(lambda fc, x: (function(x), fc(x)), nn.Linear(4, 4))
    capture = flops_of(model, torch.eye(4))
    assert (capture.totals.flops, capture.totals.flops_complete) == (2 * 4 * 4 * 4, False)
    alone = flops_of(Calls(function), torch.eye(4)).totals
    assert (alone.flops, alone.flops_complete) == (None, False)


def test_what_python_cant_look_into_counts_as_the_ops_that_it_runs() -> None:
    """TorchScript inside a model, and a function with a backward of its own, both ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    totals = flops_of(nn.Sequential(scripted, nn.Linear(2, 2)), X(3, 4)).totals
    assert (totals.flops, totals.flops_complete) == (2 * 3 * (32 + 16 + 4), True)
    totals = flops_of(Calls(lambda fc, x, w: Product.apply(fc(x), w), nn.Linear(4, 4)), X(3, 4), X(4, 5), backward=True).totals
    assert (totals.flops, totals.backward_flops) == (2 * 3 * (16 + 20), 2 * 3 * (16 + 2 * 20))


class Product(torch.autograd.Function):
    """A product that computes both gradients, whichever are wanted."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, w = ctx.saved_tensors
        return gradients[0] @ w.t(), x.t() @ gradients[0]


def test_a_failed_run_tells_what_is_known() -> None:
    """What ran before and after counts, the failing op is unknown."""
    capture = shapes.capture(nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)), X(3, 4))
    assert (capture.totals.flops, capture.totals.flops_complete) == (2 * 3 * 4 * 8, False)


WITH_A_BACKWARD: dict[str, tuple[Callable[[], nn.Module], tuple[torch.Tensor, ...], int]] = {
    "linear whose input wants no gradient": (lambda: nn.Linear(12, 5), (X(3, 12),), 180),
    "two linears": (lambda: nn.Sequential(nn.Linear(12, 5), nn.Linear(5, 7)), (X(3, 12),), 180 + 2 * 105),
    "convolutions": (lambda: nn.Sequential(nn.Conv1d(3, 4, 3), nn.Conv1d(4, 5, 3)), (X(1, 3, 10),), 8 * 4 * 9 + 2 * 6 * 5 * 12),
    "transposed convolution": (
        lambda: nn.Sequential(nn.Conv1d(3, 4, 1), nn.ConvTranspose1d(4, 5, 3)),
        (X(1, 3, 10),),
        120 + 2 * 10 * 4 * 15,
    ),
    "LSTM": (lambda: nn.LSTM(4, 8), (X(7, 2, 4),), 2 * 7 * 2 * 32 * 12),
    "attention": (
        lambda: Calls(lambda fc, x: F.scaled_dot_product_attention(fc(x), fc(x), fc(x)), nn.Linear(16, 16)),
        (X(2, 4, 10, 16),),
        3 * 80 * 256 + 5 * 2 * 4 * 10 * 10 * 16,
    ),
    "grouped convolution": (lambda: nn.Sequential(nn.Conv1d(4, 4, 1), nn.Conv1d(4, 6, 3, groups=2)), (X(1, 4, 10),), 160 + 2 * 8 * 6 * 6),
    "frozen beginning": (lambda: nn.Sequential(nn.Linear(12, 5).requires_grad_(False), nn.Linear(5, 7)), (X(3, 12),), 105),
}


@pytest.mark.parametrize("name", WITH_A_BACKWARD)
def test_a_backward_takes_what_its_formula_says(name: str) -> None:
    """A product for each gradient that is wanted: of the weight, and of the input where something before it learns."""
    make, args, macs = WITH_A_BACKWARD[name]
    capture = flops_of(make(), *args, backward=True)
    assert capture.totals.backward_flops == 2 * macs
    assert flops_of(make(), *args).totals.backward_flops is None


def test_the_way_back_is_told_by_call_and_adds_up() -> None:
    """Each layer's own, the whole at the root; accumulated micro-batches count once."""
    model = nn.Sequential(nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 7))
    for accumulate in (1, 3):
        record = flops_of(model, X(3, 12), backward=True, accumulate=accumulate).record
        assert record.calls.backward_flops.tolist() == [2 * (180 + 210), 2 * 180, 0, 2 * 210]
        assert record.totals.backward_flops == 2 * 390


def test_a_block_that_runs_once_more_counts_once_more() -> None:
    """Checkpointing adds the forward of the block to the way back."""
    block = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
    plain = flops_of(Calls(lambda b, x: b(x), block), X(4, 8), backward=True).totals
    again = flops_of(Calls(lambda b, x: torch.utils.checkpoint.checkpoint(b, x, use_reentrant=False), block), X(4, 8), backward=True).totals
    assert plain.flops == again.flops == 2 * 2 * 4 * 64
    assert plain.backward_flops is not None and again.backward_flops is not None
    # The last product's result is nobody's input on the way back, so that torch stops before it.
    assert again.backward_flops - plain.backward_flops in (2 * 4 * 64, 2 * 2 * 4 * 64)


SIZE = st.integers(1, 6)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.tuples(SIZE, SIZE, SIZE), kernel=st.integers(1, 3), side=st.integers(3, 8), stride=st.integers(1, 2), transposed=st.booleans()
)
def test_any_convolution_counts_as_torch_counts_it(
    sizes: tuple[int, int, int], kernel: int, side: int, stride: int, transposed: bool
) -> None:
    """Forward and backward, both gradients; of groups torch counts too many in the backward."""
    batch, channels, filters = sizes
    kind = nn.ConvTranspose2d if transposed else nn.Conv2d
    _same_as_torch(nn.Sequential(nn.Conv2d(channels, channels, 1), kind(channels, filters, kernel, stride)), X(batch, channels, side, side))


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(SIZE, min_size=0, max_size=3), features=SIZE, hidden=SIZE, bias=st.booleans())
def test_any_linear_counts_as_torch_counts_it(sizes: list[int], features: int, hidden: int, bias: bool) -> None:
    """Of any rank, forward and backward."""
    _same_as_torch(nn.Sequential(nn.Linear(features, hidden, bias), nn.Linear(hidden, features, bias)), X(*sizes, features))


@settings(max_examples=25, deadline=None)
@given(left=st.lists(SIZE, max_size=2), right=st.lists(SIZE, max_size=2), m=SIZE, k=SIZE, n=SIZE)
def test_any_product_counts_as_torch_counts_it(left: list[int], right: list[int], m: int, k: int, n: int) -> None:
    """Batches that broadcast, or don't."""
    left, right = ([1] * len(left), right) if left != right else (left, right)
    _same_as_torch(Calls(lambda a, b, x, y: a(x) @ b(y), nn.Linear(k, k), nn.Linear(n, n)), X(*left, m, k), X(*right, k, n))


def _same_as_torch(model: nn.Module, *args: torch.Tensor) -> None:
    counter = FlopCounterMode(display=False)
    with counter:
        output = model(*args)
        forward = counter.get_total_flops()
        output.sum().backward()
    totals = flops_of(model, *args, backward=True).totals
    assert (totals.flops, totals.backward_flops) == (forward, counter.get_total_flops() - forward)


@pytest.mark.parametrize("execution", ["auto", "real"])
def test_experts_count_where_their_product_runs_for_real_at_once(execution: Any) -> None:
    """Grouped products of float32 have no shape-level kernel, so that no aten op is seen inside: each row takes two of four experts."""
    rows, hidden, inner, layers = 2 * 6, 32, 48, 2
    attention = rows * hidden * 3 * hidden + 2 * rows * 6 * hidden  # two heads of keys for four of queries
    expected = layers * (attention + rows * hidden * 4 + 2 * rows * 3 * hidden * inner) + rows * hidden * 100
    sizes = {"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "vocab_size": 100}
    config = TRANSFORMERS.MixtralConfig(**sizes, num_attention_heads=4, num_key_value_heads=2, num_local_experts=4)
    model = TRANSFORMERS.MixtralForCausalLM(config)
    totals = shapes.capture(model, (), {"input_ids": _tokens(2, 6), "use_cache": False}, execution=execution, verify_fixes=False).totals
    assert (totals.flops, totals.flops_complete) == (2 * expected, True)


UNSEEN: dict[str, tuple[str, list[tuple[int, ...]], list[tuple[int, ...]], int | None]] = {
    "a product": ("torch.Tensor.matmul", [(2, 3), (3, 4)], [(2, 4)], 48),
    "a custom op": ("torch.ops.shapes_test_flops.twice", [(2, 3)], [(2, 3)], None),
    "a transform": ("torch.fft.fft_rfft", [(2, 8)], [(2, 5)], None),
    "a formula that needs more than shapes": ("torch.convolution", [(1, 3, 8), (4, 3, 3)], [(1, 4, 6)], None),
    "elementwise": ("torch.Tensor.relu", [(2, 3)], [(2, 3)], 0),
    "what made a tensor of an array": ("torch.ops.aten.lift_fresh", [(2, 3)], [(2, 3)], 0),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_call_inside_which_nothing_was_seen_counts_by_its_name(name: str) -> None:
    """By the formula of the aten op of that name; unknown, never nothing, where there is none."""
    function, inputs, outputs, expected = UNSEEN[name]
    assert unseen_flops(function, inputs, outputs) == expected
