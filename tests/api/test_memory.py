"""What a capture tells of memory, against the storages that are alive while the same model runs for real, byte for byte."""

import contextlib
import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

import tb_shapeplugin as shapes
from tb_shapeplugin.base.errors import ShapesError

Optimizer = Callable[[Any], torch.optim.Optimizer]


class Live(TorchDispatchMode):
    """Bytes of storages alive, and the most of them: each counts from the op that gives it until nobody holds it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types there
        self.now = self.peak = 0
        self._held: dict[int, Any] = {}

    def add(self, value: Any) -> None:
        for tensor in tree_leaves(value):
            storage = tensor.untyped_storage() if isinstance(tensor, torch.Tensor) else None
            if storage is not None and storage.nbytes() and storage._cdata not in self._held:
                key, size = storage._cdata, storage.nbytes()
                self._held[key] = weakref.ref(storage, lambda _, key=key, size=size: self._drop(key, size))
                self.now += size
                self.peak = max(self.peak, self.now)

    def _drop(self, key: int, size: int) -> None:
        self._held.pop(key)
        self.now -= size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.add(result)
        return result


def loss_of(output: Any) -> torch.Tensor:
    """The mean of squares of all that is floating."""
    total: torch.Tensor = sum((t.float().square().mean() for t in tree_leaves(output) if t.is_floating_point()), torch.zeros(()))
    return total


def really(model: nn.Module, args: tuple[Any, ...], optimizer: Optimizer | None, amp: bool = False, batches: int = 1) -> dict[str, int]:
    """The peaks of two iterations run for real."""
    model = copy.deepcopy(model)
    made = optimizer(model.parameters()) if optimizer else None
    gc.collect()
    live = Live()
    live.add([list(model.parameters()), list(model.buffers()), args, list(made.state.values()) if made is not None else []])
    found: dict[str, int] = {}
    for name in ("peak_first_bytes", "peak_bytes"):
        live.peak = live.now
        with live:
            for _ in range(batches):
                with torch.autocast("cpu", torch.bfloat16) if amp else contextlib.nullcontext():
                    output = model(*args)
                    found.setdefault("peak_forward_bytes", live.peak)
                    loss = loss_of(output)
                    loss = loss / batches if batches > 1 else loss
                loss.backward()  # type: ignore[no-untyped-call]  # torch has no types there
            if made is not None:
                made.step()
            for leaf in tree_leaves([list(model.parameters()), args]):
                leaf.grad = None
        found[name] = live.peak
        del output, loss
    if made is not None:
        states = {
            t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tree_leaves(list(made.state.values())) if torch.is_tensor(t)
        }
        found["optimizer_bytes"] = sum(states.values())
    return found


class Residual(nn.Module):
    """Attention and a feed-forward with dropout, one in place, around a tied table."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(50, 16), nn.Linear(16, 50, bias=False)
        self.head.weight = self.words.weight
        self.attention, self.norm = nn.MultiheadAttention(16, 4, batch_first=True), nn.LayerNorm(16)
        self.feed = nn.Sequential(nn.Linear(16, 64), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(64, 16))
        self.register_buffer("mask", torch.ones(9, 9).triu(1).bool())

    def forward(self, ids: torch.Tensor) -> Any:
        x = self.words(ids)
        x = x + self.attention(x, x, x, attn_mask=self.mask, need_weights=False)[0]
        return self.head(self.norm(x + self.feed(x)))


class Checkpointed(nn.Module):
    """Four blocks that are computed once more in the backward."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32)) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Reads(nn.Module):
    """Masks what its own condition picks, and goes on by what it finds in there."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        picked = x[x[:, 0] > 0]
        if bool((picked.sum() > -1e9).item()):
            picked = torch.cat([picked, picked])
        result: torch.Tensor = self.fc(picked)
        return result


class Experts(nn.Module):
    """Rows in three groups, each through an expert of its own: torch's shape-level kernel of it takes half precision alone."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Parameter(torch.randn(3, 16, 32)), nn.Parameter(torch.randn(3, 32, 16))
        self.register_buffer("ends", torch.tensor([4, 8, 24], dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.gelu(torch._grouped_mm(x, self.up, offs=self.ends))
        return torch._grouped_mm(y, self.down, offs=self.ends)


class Several(nn.Module):
    """A dict of outputs, of which one is an intermediate."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        y = F.relu(self.norm(self.conv(x)))
        return {"map": y, "logits": self.head(y.mean((2, 3)))}


def built(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """A model with its arguments, always the same."""
    torch.manual_seed(0)
    return {
        "perceptron": lambda: (nn.Sequential(nn.Linear(40, 100), nn.ReLU(), nn.Linear(100, 10)), (torch.randn(16, 40),)),
        "residual": lambda: (Residual(), (torch.randint(0, 50, (4, 9)),)),
        "checkpointed": lambda: (Checkpointed(), (torch.randn(64, 32),)),
        "reads": lambda: (Reads(), (torch.randn(20, 6),)),
        "experts": lambda: (Experts(), (torch.randn(24, 16),)),
        "several": lambda: (Several(), (torch.randn(2, 3, 16, 16),)),
        "gradient of the input": lambda: (nn.Sequential(nn.Linear(8, 8), nn.Tanh()), (torch.randn(5, 8, requires_grad=True),)),
    }[name]()


MODELS = ("perceptron", "residual", "checkpointed", "reads", "several", "experts", "gradient of the input")
OPTIMIZERS: dict[str, Optimizer | None] = {
    "no optimizer": None,
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3),
    "AdamW foreach": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, foreach=True),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=1e-3),
}
EVERY_OPTIMIZER: dict[str, Optimizer] = {
    "Adadelta": torch.optim.Adadelta,
    "Adafactor": torch.optim.Adafactor,
    "Adam with amsgrad": lambda parameters: torch.optim.Adam(parameters, amsgrad=True),
    "Adam fused": lambda parameters: torch.optim.Adam(parameters, fused=True),
    "Adamax": torch.optim.Adamax,
    "ASGD": torch.optim.ASGD,
    "NAdam": torch.optim.NAdam,
    "RAdam": torch.optim.RAdam,
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, momentum=0.9, centered=True),
    "Rprop": torch.optim.Rprop,
    "SGD": torch.optim.SGD,
}


class Remembers(nn.Module):
    """Keeps what it gave last, and for a while a longer past: a second iteration finds more than the optimizer's state."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.last, self.past = nn.Linear(16, 16), None, []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x) if self.last is None else self.fc(x) + self.last
        self.last = y.detach().clone()
        self.past = [*self.past[-2:], self.last]
        return torch.relu(y)


def told(capture: shapes.Capture, names: list[str]) -> dict[str, Any]:
    """Some of its totals."""
    return {name: getattr(capture.totals, name) for name in names}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_training_step_takes_what_is_told(model: str, optimizer: str) -> None:
    """Forward, first and later iterations, and the optimizer's state."""
    net, args = built(model)
    make = OPTIMIZERS[optimizer]
    expected = really(net, args, make)
    given = make(net.parameters()) if make else None
    capture = shapes.capture(net, args, backward=True, loss_fn=loss_of, optimizer=given)
    assert told(capture, list(expected)) == expected
    assert capture.memory is not None and capture.memory.unknown == {}


@pytest.mark.parametrize("name", EVERY_OPTIMIZER)
def test_every_optimizer_takes_what_is_told(name: str) -> None:
    """Those too that read values as they step; then the figures are estimated, and say so."""
    net, args = built("perceptron")
    expected = really(net, args, EVERY_OPTIMIZER[name])
    capture = shapes.capture(net, args, backward=True, loss_fn=loss_of, optimizer=EVERY_OPTIMIZER[name](net.parameters()))
    assert told(capture, list(expected)) == expected
    assert capture.memory is not None
    assert ("peak_bytes" in capture.memory.estimated) == (name in ("Adafactor", "ASGD"))


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_what_a_model_remembers_is_there_in_later_iterations(optimizer: str) -> None:
    """The second forward is run as well, where the first leaves more than the optimizer's state."""
    net, args = Remembers(), (torch.randn(32, 16),)
    expected = really(net, args, OPTIMIZERS[optimizer])
    make = OPTIMIZERS[optimizer]
    capture = shapes.capture(net, args, backward=True, loss_fn=loss_of, optimizer=make(net.parameters()) if make else None)
    assert told(capture, list(expected)) == expected
    assert net.last is None and net.past == []


@pytest.mark.parametrize("model", ["perceptron", "residual", "several"])
def test_the_callers_autocast_is_that_of_the_forward(model: str) -> None:
    """Casts are let go behind it: the backward runs without."""
    net, args = built(model)
    expected = really(net, args, OPTIMIZERS["AdamW"], amp=True)
    with torch.autocast("cpu", torch.bfloat16):
        before = torch.is_autocast_enabled("cpu")
        capture = shapes.capture(net, args, backward=True, loss_fn=loss_of, optimizer=torch.optim.AdamW(net.parameters(), lr=1e-3))
        assert torch.is_autocast_enabled("cpu") == before
    # The shape-level batch norm keeps its statistics in bfloat16, the real one in float32.
    assert told(capture, list(expected)) == pytest.approx(expected, rel=0.002 if model == "several" else 0)


def test_gradients_accumulate_over_micro_batches() -> None:
    """Three forwards and backwards before the step."""
    net, args = built("perceptron")
    expected = really(net, args, OPTIMIZERS["SGD"], batches=3)
    given = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    assert told(shapes.capture(net, args, backward=True, loss_fn=loss_of, optimizer=given, accumulate=3), list(expected)) == expected


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("model", MODELS[:6])
def test_a_forward_alone_takes_what_is_told(model: str, grad: bool) -> None:
    """With and without gradients; all three peaks are the forward's, and without gradients nothing is kept."""
    net, args = built(model)
    live = Live()
    live.add([list(net.parameters()), list(net.buffers()), args])
    kept: dict[int, int] = {}
    alive = []
    own = {p.untyped_storage()._cdata for p in net.parameters()}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        alive.append(storage)
        if storage._cdata not in own:
            kept[storage._cdata] = storage.nbytes()
        return tensor

    twin = copy.deepcopy(net)
    with torch.set_grad_enabled(grad):
        with live:
            output = net(*args)
        own |= {p.untyped_storage()._cdata for p in twin.parameters()}
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            twin(*args)
        capture = shapes.capture(net, args)
    del output
    names = ["peak_forward_bytes", "peak_first_bytes", "peak_bytes", "saved_bytes"]
    assert told(capture, names) == {**dict.fromkeys(names[:3], live.peak), "saved_bytes": sum(kept.values())}


def test_the_line_has_its_peak_and_its_phases() -> None:
    """Terms add up to the peak, at an op of the phase that it is in; no point lies above it."""
    net, args = built("perceptron")
    capture = shapes.capture(net, args, backward=True, optimizer=torch.optim.AdamW(net.parameters()))
    memory = capture.memory
    assert memory is not None and memory.peak is not None
    assert [phase for phase, _ in memory.phases] == ["forward", "loss", "backward", "step"]
    sums = [sum(line[place] for line in memory.alive.values()) for place in range(len(memory.at))]
    assert max(sums) == memory.peak.bytes == sum(memory.peak.terms.values()) == capture.totals.peak_bytes
    assert memory.peak.phase == "step" and memory.peak.terms["optimizer"] == capture.totals.optimizer_bytes
    assert memory.at == tuple(sorted(memory.at)) and memory.at[-1] < memory.ops == memory.phases[-1][1]


def test_a_long_line_is_thinned_out_and_keeps_its_peak() -> None:
    """Hundreds of points for thousands of ops."""
    net = nn.Sequential(*(layer for _ in range(120) for layer in (nn.Linear(8, 8), nn.Tanh(), nn.LayerNorm(8))))
    memory = shapes.capture(net, torch.randn(4, 8), backward=True).memory
    assert memory is not None and memory.peak is not None and memory.ops > 1000
    assert len(memory.at) == 500
    assert max(sum(line[place] for line in memory.alive.values()) for place in range(500)) == memory.peak.bytes


class Hooked(torch.optim.SGD):
    """Tells of each of its steps."""

    stepped = 0

    def step(self, closure: Any = None) -> Any:
        Hooked.stepped += not any(type(p) is not nn.Parameter for group in self.param_groups for p in group["params"])
        return super().step(closure)


def test_model_optimizer_and_scheduler_are_left_as_found() -> None:
    """Nothing is trained: parameters, gradients, state, and the count of a scheduler's steps."""
    net, args = built("perceptron")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    loss_of(net(*args)).backward()  # type: ignore[no-untyped-call]  # torch has no types there
    optimizer.step()
    calls: list[Any] = []
    optimizer.register_step_pre_hook(lambda *given: calls.append(given))
    weights = copy.deepcopy(net.state_dict())
    state = copy.deepcopy(optimizer.state_dict())
    gradients = [p.grad for p in net.parameters()]
    count = scheduler.last_epoch, getattr(optimizer, "_step_count", 0)
    capture = shapes.capture(net, args, backward=True, optimizer=optimizer)
    assert capture.totals.optimizer_bytes == sum(t.nbytes for s in optimizer.state.values() for t in s.values())
    assert all(torch.equal(weights[name], value) for name, value in net.state_dict().items())
    assert [p.grad for p in net.parameters()] == gradients or all(p.grad is g for p, g in zip(net.parameters(), gradients, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(tree_leaves(state["state"]), tree_leaves(optimizer.state_dict()["state"]), strict=True))
    assert (scheduler.last_epoch, getattr(optimizer, "_step_count", 0)) == count
    assert calls == []


def _raises(output: Any) -> torch.Tensor:
    raise KeyError("target")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"loss_fn": _raises}, "loss_fn raised KeyError: 'target'"),
        ({"loss_fn": lambda output: output.detach().sum()}, "nothing to go backward from"),
        ({"loss_fn": lambda output: output}, "the backward raised RuntimeError: grad can be implicitly created only for scalar outputs"),
        ({"optimizer": "LBFGS"}, "the optimizer's step raised TypeError"),
    ],
)
def test_what_nobody_knows_says_why_and_the_rest_stands(options: dict[str, Any], reason: str) -> None:
    """The forward's figures are known; never a 0 for what is unknown."""
    net, args = built("perceptron")
    if "optimizer" in options:
        options = {"optimizer": torch.optim.LBFGS(net.parameters())}
    capture = shapes.capture(net, args, backward=True, **options)
    assert capture.completed and capture.memory is not None
    assert (capture.totals.peak_bytes, capture.totals.gradient_bytes, capture.totals.optimizer_bytes) == (None, None, None)
    assert capture.totals.saved_bytes == 16 * 40 * 4 + 16 * 100 * 4
    assert capture.totals.peak_forward_bytes == shapes.capture(net, args).totals.peak_forward_bytes
    assert reason in capture.memory.unknown["peak_bytes"]
    assert reason in str(capture).replace("\n                      ", " ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss_fn": loss_of}, "Give backward=True with them"),
        ({"accumulate": 2}, "Give backward=True with them"),
        ({"backward": True, "loss_fn": 3}, "loss_fn is a int"),
        ({"backward": True, "optimizer": 3}, "optimizer is a int"),
        ({"backward": True, "accumulate": 0}, "accumulate is 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    """With the way to write it."""
    with pytest.raises(ShapesError, match=words):
        shapes.capture(nn.Linear(2, 2), torch.ones(1, 2), **options)


def test_what_was_compiled_is_told_as_it_was_written() -> None:
    """The same figures, and nothing is compiled for them."""
    net, args = built("several")
    plain = shapes.capture(net, args, backward=True, loss_fn=loss_of).totals
    assert shapes.capture(torch.compile(net), args, backward=True, loss_fn=loss_of).totals == plain


def test_a_real_run_is_told_from_the_shape_level_too() -> None:
    """On a copy: the run on the data given needs no second one."""
    net, args = built("perceptron")
    captures = [shapes.capture(net, args, execution=execution, backward=True) for execution in ("fake", "real")]
    assert captures[0].totals == captures[1].totals


def test_packed_weights_are_counted_apart() -> None:
    """They are no parameters; a byte an element, and the bias as it is."""
    net = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 5), nn.ReLU()), {nn.Linear})  # type: ignore[attr-defined]  # untyped
    totals = shapes.capture(net, torch.randn(3, 8)).totals
    assert (totals.params, totals.packed_params, totals.packed_bytes) == (0, 45, 40 + 5 * 4)


def test_a_buffer_that_is_a_view_of_a_parameter_takes_nothing() -> None:
    """It is the parameter's memory."""
    net = nn.Linear(8, 8)
    net.register_buffer("row", net.weight.detach()[0])
    net.register_buffer("mean", torch.zeros(8))
    assert shapes.capture(net, torch.randn(2, 8)).totals.buffer_bytes == 32


def test_a_failing_model_has_no_memory() -> None:
    """What it would take is a guess."""
    capture = shapes.capture(nn.Linear(4, 2), torch.ones(3, 5), backward=True)
    assert capture.memory is None and capture.totals.peak_bytes is None


def test_what_is_saved_is_loaded(tmp_path: Any) -> None:
    """Line, peak, reasons and totals."""
    net, args = built("perceptron")
    captures = [
        shapes.capture(net, args, backward=True, optimizer=torch.optim.AdamW(net.parameters())),
        shapes.capture(net, args, backward=True, loss_fn=_raises),
        shapes.capture(net, args),
    ]
    for number, capture in enumerate(captures):
        capture.save(tmp_path / f"{number}.shapes")
        (loaded,) = shapes.load(tmp_path / f"{number}.shapes")
        assert loaded.memory == capture.memory
        assert loaded.totals == capture.totals
