"""What crosses a guard outside the model's forward: loss, backward, optimizer, collate, checkpoints, memory, the loop's own code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

import tb_shapeplugin as shapes
from tests.api.guarded import Crashed, Net, crashed, labels, pictures

HERE = "tests/api/test_guard_kinds.py"


class Overlap(nn.Module):
    """A loss that somebody wrote."""

    def forward(self, scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return 1 - (scores.softmax(1) * target).sum()


class Clipped(torch.autograd.Function):
    """A backward that forgets rows."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The sign."""
        return x.sign()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Half of the gradient."""
        return grad[:2]


class Series(Dataset[Any]):
    """Items that its own code can't make."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.arange(12.0).view(5, 3)


def loss_module(model: Any) -> None:
    """One target too many."""
    criterion = nn.CrossEntropyLoss()
    for images, target in [(pictures(), labels(5))]:
        out = model(images)
        criterion(out, target)


def loss_function(model: Any) -> None:
    """A class number too high, in the middle of an expression."""
    images, target = pictures(), torch.tensor([1, 2, 10, 3])
    out = model(images)
    _ = 0.5 * F.cross_entropy(out, target) + 1


def loss_in_a_helper(model: Any) -> None:
    """The loss is computed in a function."""
    images = pictures()
    scores = model(images)
    weighted(scores, torch.zeros(4, 9), 2.0)


def weighted(out: torch.Tensor, target: torch.Tensor, weight: float) -> torch.Tensor:
    """The helper."""
    return (out - target).pow(2).mean() * weight


def loss_of_ones_own(model: Any) -> None:
    """A loss in the user's file."""
    criterion = Overlap()
    images = pictures()
    out = model(images)
    criterion(out, torch.zeros(4, 7))


def loss_dtype(model: Any) -> None:
    """Targets of a dtype that it doesn't take."""
    images = pictures()
    F.cross_entropy(model(images), labels().int())


def no_gradient(model: Any) -> None:
    """The forward ran without gradients."""
    images = pictures()
    with torch.no_grad():
        out = model(images)
    loss = F.cross_entropy(out, labels())
    loss.backward()


def written_over(model: Any) -> None:
    """What backward needs is written over."""
    images = pictures()
    out = model(images)
    grown = out.exp()
    grown += 1
    loss = grown.sum()
    loss.backward()


def backward_again(model: Any) -> None:
    """The graph is gone."""
    images = pictures()
    loss = model(images).sum()
    loss.backward()
    loss.backward()


def not_scalar(model: Any) -> None:
    """Ten scores a picture have no one gradient."""
    images = pictures()
    model(images).backward()


def wrong_gradient(model: Any) -> None:
    """A backward of the user's gives too few rows."""
    images = pictures()
    loss = Clipped.apply(model(images)).sum()
    loss.backward()


def optimizer_state(model: Any) -> None:
    """State of another model's size."""
    images = pictures()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)  # which puts a step of its own before the optimizer's
    model(images).sum().backward()
    optimizer.step()
    optimizer.state[model.fc.weight]["momentum_buffer"] = torch.zeros(7, 400)
    optimizer.step()


def ragged(model: Any) -> None:
    """Pictures of two sizes."""
    data = [(torch.zeros(1, 14, 14), 1), (torch.zeros(1, 15, 14), 2)]
    for images, _ in DataLoader(data, batch_size=2):
        model(images)


def ragged_in_a_worker(model: Any) -> None:
    """The same in another process."""
    data = [(torch.zeros(1, 14, 14), 1), (torch.zeros(1, 15, 14), 2)]
    for images, _ in DataLoader(data, batch_size=2, num_workers=1):
        model(images)


def own_collate(model: Any) -> None:
    """The same in a collate function of the user's."""
    data = [{"image": torch.zeros(1, 14, 14)}, {"image": torch.zeros(1, 14, 13)}]
    for images in DataLoader(data, batch_size=2, collate_fn=stacked):
        model(images)


def stacked(batch: list[dict[str, torch.Tensor]]) -> torch.Tensor:
    """The collate function."""
    return torch.stack([item["image"] for item in batch])


def data_set(model: Any) -> None:
    """The data set itself fails."""
    for images in DataLoader(Series(), batch_size=2):
        model(images)


def data_set_in_a_worker(model: Any) -> None:
    """The same in another process."""
    for images in DataLoader(Series(), batch_size=2, num_workers=1):
        model(images)


def checkpoint(model: Any) -> None:
    """A checkpoint of a narrower model."""
    state = Net(300).state_dict()
    model.load_state_dict(state)


def checkpoint_keys(model: Any) -> None:
    """A checkpoint of a model in a wrapper."""
    state = {f"module.{name}": tensor for name, tensor in model.state_dict().items()}
    model.load_state_dict(dict(state))


def batch_of_another_shape(model: Any) -> None:
    """A view in the loop."""
    images = pictures()
    model(images.view(4, 100))


def memory(model: Any) -> None:
    """More than any machine has."""
    images = pictures()
    out = model(images)
    out.new_zeros(10).expand(1 << 42, 10).contiguous()


def mask(model: Any) -> None:
    """A mask of fewer rows."""
    images = pictures()
    out = model(images)
    mask = out > 0
    _ = out[mask[:3]]


# loop, kind, op, part of the code of the line, got, want
CASES: list[tuple[Callable[[Any], None], str, str, str, dict[str, int], dict[str, int]]] = [
    (loss_module, "loss_target_shape", "torch.nn.functional.cross_entropy", "criterion(out, target)", {"size": 5}, {"size": 4}),
    (loss_function, "loss_target_range", "torch.nn.functional.cross_entropy", "0.5 * F.cross", {"label": 10}, {"below": 10}),
    (loss_in_a_helper, "broadcast", "torch.Tensor.sub", "(out - target)", {"size": 10}, {"size": 9}),
    (loss_of_ones_own, "broadcast", "torch.Tensor.mul", "scores.softmax(1) * target", {"size": 10}, {"size": 7}),
    (loss_dtype, "dtype", "torch.nn.functional.cross_entropy", "labels().int()", {"int_bits": 32}, {"int_bits": 64}),
    (no_gradient, "opaque", "torch.Tensor.backward", "loss.backward()", {}, {}),
    (written_over, "opaque", "torch.Tensor.backward", "loss.backward()", {}, {}),
    (backward_again, "opaque", "torch.Tensor.backward", "loss.backward()", {}, {}),
    (not_scalar, "opaque", "torch.Tensor.backward", "model(images).backward()", {}, {}),
    (wrong_gradient, "opaque", "torch.Tensor.backward", "loss.backward()", {}, {}),
    (optimizer_state, "broadcast", "torch.Tensor.add_", "optimizer.step()", {"size": 7}, {"size": 10}),
    (ragged, "stack_ragged", "torch.stack", "DataLoader(data, batch_size=2):", {"size": 15}, {"size": 14}),
    (ragged_in_a_worker, "stack_ragged", "torch.stack", "num_workers=1", {"size": 15}, {"size": 14}),
    (own_collate, "stack_ragged", "torch.stack", "torch.stack([item", {"size": 13}, {"size": 14}),
    (data_set, "view_numel", "torch.Tensor.view", ".view(5, 3)", {"numel": 12}, {"numel": 15}),
    (data_set_in_a_worker, "view_numel", "torch.Tensor.view", ".view(5, 3)", {"numel": 12}, {"numel": 15}),
    (checkpoint, "state_dict", "torch.nn.Module.load_state_dict", "model.load_state_dict(state)", {"size": 300}, {"size": 400}),
    (checkpoint_keys, "state_dict", "torch.nn.Module.load_state_dict", "dict(state)", {"unexpected": 4}, {"missing": 4}),
    (batch_of_another_shape, "view_numel", "torch.Tensor.view", "images.view(4, 100)", {"numel": 784}, {"numel": 400}),
    (memory, "out_of_memory", "torch.Tensor.contiguous", "1 << 42", {}, {}),
    (mask, "mask_shape", "torch.Tensor.__getitem__", "out[mask[:3]]", {"size": 3}, {"size": 4}),
]
FOLLOWS_THE_MODEL = {
    *(loss_module, loss_function, loss_in_a_helper, loss_of_ones_own, loss_dtype, no_gradient, written_over, backward_again),
    *(not_scalar, wrong_gradient, memory, mask),
}


def looked_at(folder: Path, loop: Callable[[Any], None]) -> Crashed:
    """What guard makes of a loop around Net."""
    return crashed(folder, Net(), loop)


@pytest.mark.parametrize(("loop", "kind", "op", "code", "got", "want"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_failing_call_is_told_by_its_operands(
    loop: Callable[[Any], None], kind: str, op: str, code: str, got: dict[str, int], want: dict[str, int], tmp_path: Path
) -> None:
    """Kind, op, place and numbers are right, eager's own words are kept, and the exception's note says the same."""
    crash = looked_at(tmp_path, loop)
    finding = crash.finding
    assert (finding.kind, finding.op, finding.file) == (kind, op, HERE)
    assert code in finding.code and finding.line > 0
    numbers = {(*finding.got.values(), *finding.want.values()), (*finding.want.values(), *finding.got.values())}
    assert (*got.values(), *want.values()) in numbers
    assert finding.torch_message in str(crash.error)
    assert f"✕ {kind}" in crash.note and f"({HERE}:{finding.line}" in crash.note
    assert not crash.captured.completed and crash.captured.ops[finding.op_index].failed


@pytest.mark.parametrize("loop", sorted(FOLLOWS_THE_MODEL, key=lambda loop: loop.__name__), ids=lambda loop: loop.__name__)
def test_the_graph_of_the_model_comes_before_the_failing_op(loop: Callable[[Any], None], tmp_path: Path) -> None:
    """The model's call is run again on what the loop's names still hold: its layers, its ops, the failing op after them."""
    captured = looked_at(tmp_path, loop).captured
    called = {row.path.rpartition(".")[2]: row for row in captured.modules if row.called}
    assert {"conv", "fc"} <= set(called)
    assert captured.totals.params == 4_426
    failing = captured.findings[0].op_index
    assert [op.name for op in captured.ops if op.index < failing][:2] == ["torch.nn.functional.conv2d", "torch.nn.functional.relu"]


def test_the_origin_lies_in_the_model(tmp_path: Path) -> None:
    """The number that clashes in the loss is that of a layer, three statements before."""
    finding = looked_at(tmp_path, loss_in_a_helper).finding
    assert finding.origin is not None
    assert "out_features" in finding.why and finding.origin.op == "torch.nn.functional.linear"


def test_backward_errors_are_kept_in_torchs_words(tmp_path: Path) -> None:
    """Which tensor was written over, which graph is gone: only autograd knows."""
    for loop, words in ((written_over, "modified by an inplace operation"), (backward_again, "backward through the graph a second time")):
        crash = crashed(tmp_path / loop.__name__, Net(), loop)
        assert words in crash.finding.torch_message and words in crash.finding.message
        assert crash.finding.fixes == ()


def test_an_optimizer_gets_no_fix_inside_torchs_code(tmp_path: Path) -> None:
    """Its op stands in torch's file: no change of the user's reaches it. The parameter that it is about is named."""
    crash = looked_at(tmp_path, optimizer_state)
    assert [fix for fix in crash.finding.fixes if fix.changes] == []
    assert "f32[7,400]" in crash.note and "f32[10,400]" in crash.note


def test_the_items_of_a_worker_are_named_where_the_data_set_is_a_list(tmp_path: Path) -> None:
    """The worker's traceback is text: the items are looked up in the data set that this process holds."""
    finding = looked_at(tmp_path, ragged_in_a_worker).finding
    assert finding.types == "f32[1,14,14] · f32[1,15,14]"
    assert finding.origin is not None and "dataset[1][0]" in finding.why
    assert finding.torch_message.startswith("Caught RuntimeError in DataLoader worker process 0")


def test_a_real_optimizer_is_not_stepped_again(tmp_path: Path) -> None:
    """A scheduler's wrapper holds the real optimizer: the re-run goes past it, to a copy."""
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def loop(watched: Any) -> None:
        watched(pictures()).sum().backward()
        optimizer.step()
        optimizer.state[model.fc.bias]["exp_avg"] = torch.zeros(3)
        before.update({name: parameter.detach().clone() for name, parameter in model.named_parameters()})
        states.append({key: (float(state["step"]), state["exp_avg"].clone()) for key, state in optimizer.state.items()})
        optimizer.step()

    before: dict[str, torch.Tensor] = {}
    states: list[Any] = []
    crash = crashed(tmp_path, model, loop)
    assert crash.finding.kind == "broadcast"
    # Eager itself has stepped what comes before the parameter that failed.
    after = {key: float(state["step"]) for key, state in optimizer.state.items()}
    assert all(after[key] <= step + 1 for key, (step, _) in states[0].items())
    assert torch.equal(before["fc.bias"], model.fc.bias.detach())
    assert all(type(tensor) is torch.Tensor for state in optimizer.state.values() for tensor in state.values())
    assert scheduler.last_epoch == 0


def missing_key(model: Any) -> None:
    """A batch without pictures."""
    batch = {"x": pictures()}
    model(batch["image"])


def own_raise(model: Any) -> None:
    """The loop's own check."""
    images = pictures()
    out = model(images)
    if out.shape[1] != 12:
        raise ValueError("12 classes are needed")


def own_assert(model: Any) -> None:
    """An assert."""
    images = pictures()
    out = model(images)
    assert out.shape[1] == 12, f"12 classes are needed, not {out.shape[1]}"


def nothing_left(model: Any) -> None:
    """One batch too few."""
    batches = iter([pictures()])
    model(next(batches))
    model(next(batches))


@pytest.mark.parametrize(
    ("loop", "code", "error"),
    [
        (missing_key, 'batch["image"]', "KeyError"),
        (own_raise, "raise ValueError", "ValueError"),
        (own_assert, "assert out.shape", "AssertionError"),
        (nothing_left, "model(next(batches))", "StopIteration"),
    ],
)
def test_what_is_no_mismatch_is_a_user_error_without_a_fix(loop: Callable[[Any], None], code: str, error: str, tmp_path: Path) -> None:
    """At its line, in its own words, and nothing is invented."""
    crash = looked_at(tmp_path, loop)
    (finding,) = crash.captured.findings
    assert (finding.kind, finding.file, finding.fixes) == ("user_error", HERE, ())
    assert code in finding.code and error in finding.message
    assert dict(finding.got) == dict(finding.want) == {}


def test_an_allocation_that_fails_in_the_model_is_told_there(tmp_path: Path) -> None:
    """The graph is the shape-level run's, which needs no memory; the op that asked for too much is the one that failed."""

    class Huge(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.small = nn.Linear(4, 4)
            self.grown = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.small(x)
            x = x.expand(1 << 42, 4).contiguous()
            return self.grown(x)

    def loop(model: Any) -> None:
        model(torch.ones(1, 4))

    captured = crashed(tmp_path, Huge(), loop).captured
    finding = captured.findings[0]
    assert (finding.kind, finding.op, finding.module) == ("out_of_memory", "torch.Tensor.contiguous", "")
    assert "f32[4398046511104,4]" in finding.types
    assert {row.path for row in captured.modules} == {"", "small", "grown"}
    # Two times 64 TiB of activations and their gradients: what would have been needed is told without any of it.
    assert "a training step, the optimizer's state not counted, takes" in finding.message
    assert " TiB at its peak: parameters 160 B, " in finding.message
    assert captured.totals.peak_forward_bytes > 2 * (1 << 42) * 4 * 4
    names = [op.name for op in captured.ops]
    assert names.index("torch.Tensor.contiguous") == finding.op_index == names.count("torch.nn.functional.linear")


def test_a_device_side_assert_is_told_by_the_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU says only that some kernel asserted, at some later call: the inputs tell which index lies outside its table."""
    table = nn.Embedding(5, 3)
    asserting = "def embedding(*args, **kwargs):\n    raise RuntimeError('CUDA error: device-side assert triggered')\n"
    names: dict[str, Any] = {}
    exec(compile(asserting, torch.nn.functional.__file__, "exec"), names)  # stands for what only a GPU's kernel raises

    def loop(model: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(torch.nn.functional, "embedding", names["embedding"])
            model(torch.tensor([1, 7]))

    finding = crashed(tmp_path, table, loop).finding
    assert (finding.kind, dict(finding.got), dict(finding.want)) == ("index_range", {"max_index": 7}, {"num_embeddings": 5})


def test_a_loss_module_of_the_loop_gets_fixes_that_were_run(tmp_path: Path) -> None:
    """What the loop calls beside the watched model is an argument of the program that is run again: its layers can be changed, too."""

    def one_axis(model: Any) -> None:
        criterion = nn.BCEWithLogitsLoss()
        for images, target in [(pictures(), torch.zeros(4))]:
            criterion(model(images)[:, :1], target)

    finding = looked_at(tmp_path, one_axis).finding
    assert finding.kind == "loss_target_shape"
    assert "criterion(x.squeeze(1))" in [fix.text for fix in finding.fixes if fix.verified]


def test_a_capture_of_the_same_loss_agrees(tmp_path: Path) -> None:
    """Numbers and words are those of the loss as a function that capture is given."""
    model = Net()
    finding = crashed(tmp_path, model, loss_module).finding
    known = shapes.capture(lambda x, y: F.cross_entropy(model(x), y), (pictures(), labels(5))).findings[0]
    assert (finding.kind, finding.got, finding.want, finding.torch_message) == (known.kind, known.got, known.want, known.torch_message)
