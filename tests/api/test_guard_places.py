"""Where a training loop may stand, and how its model may be wrapped: a guard finds the failing call all the same."""

import linecache
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tb_shapeplugin as shapes
from tests.api.guarded import Crashed, Net, crashed, labels, pictures, raised_by

HERE = "tests/api/test_guard_places.py"
CELL = """\
with shapes.guard(writer, model):
    out = model(pictures())
    loss = F.nll_loss(out, torch.zeros(4, 2, dtype=torch.long))
"""


def run_cell(filename: str, folder: Path, model: nn.Module) -> Crashed:
    """Runs a cell as IPython does: its source is known to linecache under a made-up name."""
    linecache.cache[filename] = (len(CELL), None, CELL.splitlines(keepends=True), filename)
    with shapes.ShapeWriter(folder) as writer:
        names = {"shapes": shapes, "torch": torch, "F": F, "model": model, "writer": writer, "pictures": pictures}
        error = raised_by(lambda: exec(compile(CELL, filename, "exec"), names))
    return Crashed(error, "\n".join(error.__notes__), shapes.load(folder))


@pytest.mark.parametrize("filename", ["<ipython-input-12-0123456789ab>", "/tmp/ipykernel_4321/123456.py"])
def test_a_cell_of_a_notebook_is_called_as_the_notebook_calls_it(filename: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In[12], with the statement; older and newer IPython name the cells' files in two ways."""
    compiler = types.SimpleNamespace(_filename_map={"/tmp/ipykernel_4321/123456.py": 12})
    shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]  # stands for IPython, which isn't installed
    crash = run_cell(filename, tmp_path, Net())
    finding = crash.finding
    assert (finding.kind, finding.file, finding.line) == ("loss_target_shape", "In[12]", 3)
    assert finding.code.startswith("loss = F.nll_loss(out,")
    assert "(In[12]:3" in crash.note


def test_a_cell_outside_ipython_has_its_files_name(tmp_path: Path) -> None:
    """Nobody knows its number: the line is right, and nothing fails."""
    finding = run_cell("/tmp/ipykernel_99/9999.py", tmp_path, Net()).finding
    assert (finding.kind, finding.file, finding.line) == ("loss_target_shape", "9999.py", 3)


def test_a_compiled_model_is_diagnosed_as_it_was_written(tmp_path: Path) -> None:
    """The error comes out of the compiler, in its words, with its frames: the uncompiled module shows the user's line."""
    compiled = torch.compile(Net(300), backend="eager")

    def loop(model: Any) -> None:
        model(pictures())

    finding = crashed(tmp_path, compiled, loop).finding
    assert (finding.kind, finding.module, finding.file) == ("linear_in_features", "fc", "tests/api/guarded.py")
    assert finding.fixes[0].text == "nn.Linear(400, 10)" and finding.fixes[0].verified


def test_a_compiled_step_is_run_uncompiled(tmp_path: Path) -> None:
    """torch.compile around a function that calls the model and the loss."""

    @torch.compile(backend="eager")
    def step(model: Any, images: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(images), target)

    def loop(model: Any) -> None:
        images, target = pictures(), labels(3)
        step(model, images, target)

    crash = crashed(tmp_path, Net(), loop)
    assert (crash.finding.kind, crash.finding.file) == ("loss_target_shape", HERE)
    assert "F.cross_entropy" in crash.finding.code
    assert "fc" in {row.path.rpartition(".")[2] for row in crash.captured.modules if row.called}


def test_what_only_the_compiler_refuses_keeps_its_words(tmp_path: Path) -> None:
    """Uncompiled all is well: the finding is the compiler's, at the user's line."""

    def fussy(module: Any, inputs: Any) -> Any:
        raise RuntimeError("this backend takes no convolutions")

    compiled = torch.compile(Net(), backend=fussy)

    def loop(model: Any) -> None:
        model(pictures())

    crash = crashed(tmp_path, compiled, loop)
    assert "takes no convolutions" in crash.finding.torch_message
    assert not crash.finding.fixes


def test_a_part_called_in_the_loop_keeps_its_path(tmp_path: Path) -> None:
    """model.features(x), then model.head(z): the finding is at features.0, in the tree of the whole."""
    model = nn.Sequential()
    model.add_module("features", nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU()))
    model.add_module("head", nn.Linear(4, 2))

    def loop(watched: Any) -> None:
        watched.features(torch.zeros(2, 3, 8, 8))

    crash = crashed(tmp_path, model, loop)
    assert (crash.finding.kind, crash.finding.module) == ("conv_channels", "features.0")
    assert (crash.finding.file, crash.finding.code) == (HERE, "watched.features(torch.zeros(2, 3, 8, 8))")
    assert {row.path for row in crash.captured.modules} == {"", "features", "features.0", "features.1", "head"}


def test_forward_called_by_its_name(tmp_path: Path) -> None:
    """``model.forward(x)`` leaves no frame of ``__call__``."""

    def loop(model: Any) -> None:
        images = pictures(side=20)
        model.forward(images)

    finding = crashed(tmp_path, Net(), loop).finding
    assert (finding.kind, finding.op, dict(finding.got)) == ("linear_in_features", "torch.nn.functional.linear", {"in_features": 1024})
    assert finding.message.startswith("model.fc:")


def test_a_model_that_is_a_function(tmp_path: Path) -> None:
    """Its own frame is found by its code; where it has assigned to its arguments, the failing statement tells."""
    for model, code in ((doubled, "return wide @ torch.zeros(5, 4)"), (reassigned, "return x @ torch.zeros(5, 4)")):
        crash = crashed(tmp_path / model.__name__, model, lambda model: model(torch.zeros(2, 3)))
        assert (crash.finding.kind, crash.finding.code) == ("matmul_dims", code)
        assert [op.name for op in crash.captured.ops if op.index < crash.finding.op_index] == ["torch.cat", "torch.zeros"]


def doubled(x: torch.Tensor) -> torch.Tensor:
    """Keeps its argument."""
    wide = torch.cat([x, x], dim=1)
    return wide @ torch.zeros(5, 4)


def test_a_module_beside_the_model(tmp_path: Path) -> None:
    """A critic that is no part of the watched generator: the number comes from the generator."""
    critic = nn.Sequential(nn.Flatten(), nn.Linear(9, 1))

    def loop(generator: Any) -> None:
        images = pictures()
        made = generator(images)
        critic(made)

    crash = crashed(tmp_path, Net(), loop)
    assert (crash.finding.kind, dict(crash.finding.got)) == ("linear_in_features", {"in_features": 10})
    assert "critic.1" in crash.finding.message and "out_features" in crash.finding.why


def reassigned(x: torch.Tensor) -> torch.Tensor:
    """Gives its argument's name to something else."""
    x = torch.cat([x, x], dim=1)
    return x @ torch.zeros(5, 4)


class Trainer:
    """As people write them: all is an attribute, some of it a property."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.criterion = nn.MSELoss()
        self.device = torch.device("cpu")
        self.asked = 0

    @property
    def weight(self) -> float:
        """Counts how often it is asked."""
        self.asked += 1
        return 0.5

    def step(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """One step."""
        images, target = batch["x"].to(self.device), batch["y"]
        scores = self.model(images)
        return self.criterion(scores.squeeze(-1), target)

    def weighted(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Needs what only a property gives."""
        scores = self.model(batch["x"])
        return (scores - batch["y"]) * self.weight

    def fit(self, batches: Any, step: Any) -> None:
        """The loop."""
        for batch in batches:
            step(batch).backward()


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_a_trainer_object(tmp_path: Path) -> None:
    """The operands are looked up along its attributes, across its methods."""
    trainer = Trainer(Net())
    batch = {"x": pictures(), "y": torch.zeros(4, 9)}
    crash = crashed(tmp_path, trainer.model, lambda _: trainer.fit([batch], trainer.step))
    assert crash.finding.kind == "loss_target_shape"
    assert (crash.finding.code, crash.finding.file) == ("return self.criterion(scores.squeeze(-1), target)", HERE)
    assert {"self.model.conv", "self.model.fc", "self.criterion"} <= {row.path for row in crash.captured.modules if row.called}


def test_properties_and_functions_of_the_user_are_not_run_again(tmp_path: Path) -> None:
    """The failing part of the statement is enough; what a property did once, it isn't asked for a second time."""
    trainer = Trainer(Net())
    batch = {"x": pictures(), "y": torch.zeros(4, 9)}
    crash = crashed(tmp_path, trainer.model, lambda _: trainer.fit([batch], trainer.weighted))
    assert (crash.finding.kind, crash.finding.op) == ("broadcast", "torch.Tensor.sub")
    assert trainer.asked == 0


def test_wrapped_in_data_parallel(tmp_path: Path) -> None:
    """The model that the wrapper holds is diagnosed, under its own paths."""
    wrapped = nn.DataParallel(Net(300))

    def loop(model: Any) -> None:
        model(pictures())

    finding = crashed(tmp_path, wrapped, loop).finding
    assert (finding.kind, finding.module) == ("linear_in_features", "fc")


def test_a_decorated_evaluation(tmp_path: Path) -> None:
    """``@torch.no_grad()`` around the function: its re-run needs no gradients either, and finds the same."""

    @torch.no_grad()
    def evaluate(model: Any, images: torch.Tensor) -> torch.Tensor:
        return model(images).add_(torch.ones(10, requires_grad=True)) - torch.zeros(4, 9)

    crash = crashed(tmp_path, Net(), lambda model: evaluate(model, pictures()))
    assert (crash.finding.kind, crash.finding.op) == ("broadcast", "torch.Tensor.sub")


def test_a_loop_that_handles_errors_itself(tmp_path: Path) -> None:
    """What its own ``except`` catches never crosses the guard; what it raises anew is told at the line of the raise."""

    def loop(model: Any) -> None:
        for side in (20, 14):
            try:
                model(pictures(side=side))
            except RuntimeError:
                continue
        try:
            model(pictures(side=20))
        except RuntimeError as error:
            raise ValueError("the pictures are too large") from error

    crash = crashed(tmp_path, Net(), loop)
    assert (crash.finding.kind, crash.finding.code) == ("user_error", 'raise ValueError("the pictures are too large") from error')
