"""What goes in and comes out: dataclasses, named tuples, containers of libraries, None, texts, images, empty and odd tensors."""

import enum
import importlib
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.tracing.kinds.checking import checked, output_types
from tests.tracing.kinds.small import TwoLayers, batch


class Heads(NamedTuple):
    logits: torch.Tensor
    aux: torch.Tensor | None


@dataclass
class Sample:
    image: torch.Tensor
    name: str = "left"
    boxes: list[torch.Tensor] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    image: torch.Tensor
    more: Sample | None = None


@dataclass(slots=True)
class Slotted:
    image: torch.Tensor
    count: int = 1


class Gives(nn.Module):
    """fc of whatever tensor lies in what it is given; gives it in the same form."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)


def gives(build: Any, take: Any) -> nn.Module:
    """A module that takes its tensor out of its argument and puts what it made of it into a container."""

    class Forms(Gives):
        def forward(self, value: Any) -> Any:
            return build(self.fc(take(value)))

    return Forms()


Pair = namedtuple("Pair", "left right")  # the untyped one is a kind, too

FORMS: dict[str, tuple[Any, Any, Any, str, str]] = {
    "dataclass": (lambda y: Sample(y, boxes=[y]), lambda v: v.image, lambda x: Sample(x), "value.image", "output.image"),
    "frozen_dataclass": (lambda y: Frozen(y), lambda v: v.more.image, lambda x: Frozen(x, Sample(x)), "value.image", "output.image"),
    "slotted_dataclass": (lambda y: Slotted(y), lambda v: v.image, lambda x: Slotted(x), "value.image", "output.image"),
    "named_tuple": (lambda y: Heads(y, None), lambda v: v.logits, lambda x: Heads(x, None), "value.logits", "output.logits"),
    "untyped_named_tuple": (lambda y: Pair(y, y), lambda v: v.left, lambda x: Pair(x, 1), "value.left", "output.left"),
    "dict": (lambda y: {"a": y}, lambda v: v["a"], lambda x: {"a": x}, "value['a']", "output['a']"),
    "ordered_dict": (lambda y: OrderedDict(a=y), lambda v: v["a"], lambda x: OrderedDict(a=x), "value['a']", "output['a']"),
    "default_dict": (lambda y: defaultdict(list, a=y), lambda v: v["a"], lambda x: defaultdict(list, a=x), "value['a']", "output['a']"),
    "user_dict": (lambda y: UserDict(a=y), lambda v: v["a"], lambda x: UserDict(a=x), "value['a']", "output['a']"),
    "int_keys": (lambda y: {0: y}, lambda v: v[1], lambda x: {1: x}, "value[1]", "output[0]"),
    "list": (lambda y: [y, None], lambda v: v[0], lambda x: [x, None], "value[0]", "output[0]"),
    "deep": (
        lambda y: ([({"a": [y]},)], 1), lambda v: v[0]["b"][0], lambda x: [{"b": (x, "s")}],
        "value[0]['b'][0]", "output[0][0][0]['a'][0]",
    ),
    "namespace": (lambda y: y, lambda v: v.image, lambda x: SimpleNamespace(image=x), "value.image", "output"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_containers_go_in_and_come_out_with_names(name: str) -> None:
    """Inputs and outputs have the names that one would write in Python."""
    build, take, form, goes_in, comes_out = FORMS[name]
    capture = checked(gives(build, take), (form(batch()),))
    assert next(end.name for end in capture.inputs if end.tensor >= 0) == goes_in
    assert next(end.name for end in capture.outputs if end.tensor >= 0) == comes_out


def test_a_model_output_of_transformers_comes_out_with_its_fields() -> None:
    """A ModelOutput is a mapping of the fields that are set."""
    outputs = importlib.import_module(pytest.importorskip("transformers").modeling_outputs.__name__)

    class Gives(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> Any:
            return outputs.BaseModelOutputWithPooling(last_hidden_state=self.fc(x), pooler_output=None, hidden_states=(x, x + 1))

    capture = checked(Gives(), (batch(),))
    assert [end.name for end in capture.outputs] == [
        "output['last_hidden_state']",
        "output['hidden_states'][0]",
        "output['hidden_states'][1]",
    ]


def test_a_model_output_goes_in() -> None:
    """As an encoder's output goes into a decoder."""
    outputs = pytest.importorskip("transformers").modeling_outputs

    class Takes(Gives):
        def forward(self, encoded: Any) -> torch.Tensor:
            return self.fc(encoded.last_hidden_state) + self.fc(encoded[0])

    capture = checked(Takes(), (outputs.BaseModelOutput(last_hidden_state=batch()),))
    assert [end.name for end in capture.inputs] == ["encoded['last_hidden_state']"]


def test_a_batch_encoding_goes_in_whole_and_by_keyword() -> None:
    """What a tokenizer gives is a mapping: given as args it goes by keyword where forward has those names."""
    encoding = pytest.importorskip("transformers").BatchEncoding({"ids": torch.tensor([[1, 2]]), "mask": torch.ones(1, 2)})

    class Reads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(5, 3)

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.table(ids) * mask[..., None]

    class TakesWhole(Reads):
        def forward(self, batch: Any) -> torch.Tensor:
            return super().forward(batch["ids"], batch.mask)

    for given in (encoding, dict(encoding)):
        capture = shapes.capture(Reads(), given)
        assert capture.completed
        assert [end.name for end in capture.inputs] == ["ids", "mask"]
    capture = checked(TakesWhole(), (encoding,))
    assert [end.name for end in capture.inputs] == ["batch['ids']", "batch['mask']"]


class Mode(enum.Enum):
    FAST = "fast"


PLAIN: dict[str, Any] = {
    "none": None,
    "bool": True,
    "int": 3,
    "float": 2.5,
    "complex": 1 + 2j,
    "text": "mean",
    "long_text": "x" * 5000,
    "bytes": b"abc",
    "enum": Mode.FAST,
    "dtype": torch.float32,
    "device": torch.device("cpu"),
    "size": torch.Size([2, 3]),
    "slice": slice(1, 2),
    "range": range(3),
    "path": Path("a/b"),
    "class": nn.Linear,
    "function": torch.relu,
    "set": {1, 2},
    "array": np.arange(3),
    "number": np.float32(2),
    "object": object(),
    "generator": torch.Generator(),
    "empty_list": [],
    "empty_dict": {},
    "texts": ["a", "b"],
    "namespace": SimpleNamespace(a=1),
    "not_a_number": float("nan"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_arguments_that_hold_no_tensor(name: str) -> None:
    """They reach the forward as they are, and stand among the inputs as literals that are the same in every process."""
    seen = []

    class Takes(Gives):
        def forward(self, x: torch.Tensor, option: Any = 0) -> tuple[torch.Tensor, Any]:
            seen.append(type(option))
            return self.fc(x), option

    capture = checked(Takes(), (batch(),), {"option": PLAIN[name]})
    assert set(seen) == {type(PLAIN[name])}
    literals = [end.literal for end in capture.inputs if end.tensor < 0]
    assert all(" at 0x" not in literal and len(literal) <= 200 for literal in literals)


def test_images_of_different_sizes_in_a_list() -> None:
    """As detectors take them."""

    class Detects(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, images: list[torch.Tensor], targets: list[dict[str, torch.Tensor]] | None = None) -> dict[str, Any]:
            found = [self.conv(image[None]).mean((0, 2, 3)) for image in images]
            return {"boxes": found, "count": len(targets or [])}

    images = [torch.randn(3, 8, 9), torch.randn(3, 11, 6)]
    targets = [{"boxes": torch.zeros(count, 4), "labels": torch.zeros(count, dtype=torch.long)} for count in (2, 0)]
    capture = checked(Detects(), (images, targets))
    assert [end.name for end in capture.inputs][:3] == ["images[0]", "images[1]", "targets[0]['boxes']"]


def test_pictures_of_pil_and_arrays_are_made_tensors_inside() -> None:
    """What is no tensor yet becomes one inside the forward."""
    image = pytest.importorskip("PIL.Image").new("RGB", (6, 5))

    class Loads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 2, 3)

        def forward(self, images: list[Any]) -> torch.Tensor:
            made = [torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1).float() for image in images]
            return self.conv(torch.stack(made))

    checked(Loads(), ([image, image],))


@pytest.mark.parametrize("shape", [(0, 4), (0, 0, 4), (1, 0, 4)])
def test_a_batch_of_size_zero(shape: tuple[int, ...]) -> None:
    """Legal, and nothing is computed."""
    checked(nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.ReLU(), nn.Linear(3, 2)), (torch.empty(shape),))


def test_a_convolution_on_a_batch_of_size_zero() -> None:
    """And pooling, and flattening behind it."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    checked(model.eval(), (torch.empty(0, 3, 8, 8),))


def test_zero_dimensional_tensors() -> None:
    """In, through and out."""

    class Scalars(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(2.0))

        def forward(self, x: torch.Tensor, step: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x * self.scale, step + 1, x[None].sum(), torch.stack([x, step.float()])

    checked(Scalars(), (torch.tensor(1.5), torch.tensor(3)))


DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_goes_through(dtype: torch.dtype) -> None:
    """With ops that all of them have."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.cat([x, x]), x.reshape(-1)[:2], x == x, torch.where(x == x, x, x), x.sum()

    capture = checked(function, (torch.ones(2, 3).to(dtype),))
    assert capture.tensors[capture.inputs[0].tensor].dtype == str(dtype).removeprefix("torch.")


def test_complex_numbers_through_layers() -> None:
    """A complex layer and a Fourier transform."""

    class Spectral(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 2, dtype=torch.complex64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.irfft(torch.fft.rfft(x) @ self.weight, n=4).real

    checked(Spectral(), (batch(),))


def test_integer_models() -> None:
    """Embedding, one-hot, bucketize, arithmetic of ints."""

    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 4)
            self.register_buffer("edges", torch.tensor([0.0, 1.0]))

        def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
            hot = nn.functional.one_hot(ids, 10)
            return self.table(ids), hot, hot.sum(-1) // 2, torch.bucketize(ids.float(), self.edges), ids << 1

    checked(Counts(), (torch.tensor([[1, 2], [3, 9]]),))


OUTPUTS: dict[str, Any] = {
    "none": lambda x: None,
    "number": lambda x: 3,
    "text": lambda x: "done",
    "input": lambda x: x,
    "same_twice": lambda x: [x.relu()] * 2,
    "empty": lambda x: (),
    "shape": lambda x: x.shape,
    "array": lambda x: np.ones(2),
    "mixed": lambda x: {"loss": x.sum(), "logs": {"n": 1, "tag": None}, "states": [(x, x), ()]},
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_forward_may_give_anything(name: str) -> None:
    """Nothing at all, too."""
    capture = checked(OUTPUTS[name], (batch(),))
    assert capture.completed


def test_the_same_tensor_given_twice_is_one_tensor() -> None:
    """Two arguments, one object: what is written through one is seen through the other."""

    class Writes(nn.Module):
        def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            left.add_(1)
            return right * 2

    x = batch()
    capture = checked(Writes(), (x, x))
    assert capture.ops[1].inputs[0].id == capture.ops[0].outputs[0].id


def test_inputs_that_are_views_of_one_another() -> None:
    """They share their storage in the record as they do in memory."""
    base = torch.randn(6, 4)
    capture = checked(lambda left, right: left @ right.T, (base[:3], base[3:].requires_grad_(False)))
    left, right = (capture.tensors[end.tensor] for end in capture.inputs)
    assert left.storage == right.storage


def test_inputs_that_need_gradients_and_ones_that_have_some() -> None:
    """Gradients stay where they are."""
    model = TwoLayers()
    model(batch()).sum().backward()
    x = batch().requires_grad_()
    (x * 2).sum().backward()
    checked(model, (x,))
    checked(model, (x * 2,))


def test_a_forward_without_arguments() -> None:
    """A model that makes its own input."""

    class Samples(TwoLayers):
        def forward(self) -> torch.Tensor:
            return super().forward(torch.ones(3, 4))

    assert output_types(checked(Samples())) == [((3, 2), "float32")]


def test_starred_arguments() -> None:
    """Positional and keyword ones without names of their own."""

    class Stars(Gives):
        def forward(self, *parts: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
            return self.fc(sum(parts) + sum(named.values()))

    capture = checked(Stars(), (batch(), batch()), {"extra": batch()})
    assert [end.name for end in capture.inputs] == ["parts[0]", "parts[1]", "extra"]
