"""The fake copy: what is shared stays shared, what can't be copied is shared, nothing is allocated and nothing of the model's changes."""

import copy
import threading
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode as UsersFakeMode

from tb_shapeplugin.tracing.compat import FakeTensor, fake_of, fresh_fake_mode
from tb_shapeplugin.tracing.copying import CannotCopy
from tb_shapeplugin.tracing.twin import Twin, make_twin


def twin_of(model: nn.Module, *args: Any) -> Twin:
    """The twin of a model."""
    return make_twin(model, args, {})


class Tied(nn.Module):
    """One weight under two names, a view of it, and its memory under another parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight
        self.first = self.embedding.weight.detach()[0]
        self.same_memory = nn.Parameter(self.embedding.weight.data)


def test_tied_tensors_stay_tied() -> None:
    """One parameter under two names is one fake; views and others of its memory share the fake's."""
    twin = twin_of(Tied()).model
    assert twin.head.weight is twin.embedding.weight
    keys = {tensor.untyped_storage()._cdata for tensor in (twin.head.weight, twin.first, twin.same_memory)}
    assert len(keys) == 1
    assert twin.same_memory is not twin.head.weight


def test_fakes_are_what_their_tensors_are() -> None:
    """Kind, sizes, strides, offset, dtype, gradient and requirement of one; the model has its own still."""
    model = nn.Linear(3, 2)
    model.weight.grad = torch.ones(2, 3)
    model.register_buffer("strided", torch.ones(4, 6, dtype=torch.float16).t()[1:])
    twin = twin_of(model).model
    assert isinstance(twin.weight, nn.Parameter)
    assert twin.weight.requires_grad
    assert isinstance(twin.weight.grad, FakeTensor)
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        fake = getattr(twin, name)
        assert isinstance(fake, FakeTensor)
        assert not isinstance(getattr(model, name), FakeTensor)
        told = [(t.shape, t.stride(), t.storage_offset(), t.dtype, t.device, t.requires_grad) for t in (fake, tensor)]
        assert told[0] == told[1]


@pytest.mark.parametrize("context", [torch.device("meta"), UsersFakeMode()], ids=["meta", "a fake mode of the user's"])
def test_models_without_memory_are_copied(context: Any) -> None:
    """Whatever stands for their parameters, the twin's are fakes of its own mode, on the same device."""
    with context:
        model = nn.Linear(3, 2)
    twin = twin_of(model)
    assert isinstance(twin.model.weight, FakeTensor)
    assert twin.model.weight.fake_mode is twin.mode
    assert twin.model.weight.device == model.weight.device


def test_one_tensor_has_one_fake() -> None:
    """However often it is asked for."""
    mode, tensor = fresh_fake_mode(), nn.Parameter(torch.ones(3))
    assert fake_of(mode, tensor) is fake_of(mode, tensor)
    assert fake_of(mode, fake_of(mode, tensor)) is fake_of(mode, tensor)
    assert fake_of(fresh_fake_mode(), tensor) is not fake_of(mode, tensor)


class Locked(nn.Module):
    """Holds a lock beside what can be copied, once bare and once among other things."""

    def __init__(self, *tools: Any) -> None:
        super().__init__()
        self.lock = threading.Lock()
        self.tools = [self.lock, *tools]
        self.notes = ["plain"]
        self.inner = nn.Linear(2, 2)


def test_what_cannot_be_copied_is_shared_and_nothing_else() -> None:
    """The lock, and what holds it, are the model's own; the rest is copied."""
    model = Locked()
    twin = twin_of(model).model
    assert twin.lock is model.lock
    assert twin.tools is model.tools
    assert twin.notes is not model.notes
    assert twin.notes == model.notes
    assert twin.inner is not model.inner


def test_what_cannot_be_copied_and_holds_tensors_is_no_twins() -> None:
    """Shared with the model, it would let a run of the twin write to the model's own layers."""
    with pytest.raises(CannotCopy, match="a list resists, and holds tensors"):
        twin_of(Locked(nn.Linear(2, 2)))


class Resisting(nn.Module):
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("I am one of a kind")


def test_a_module_that_resists_is_named_in_its_own_words() -> None:
    """There is no twin of it."""
    with pytest.raises(CannotCopy, match="I am one of a kind"):
        twin_of(nn.Sequential(Resisting()))


class SaysHow(nn.Module):
    def __init__(self, told: str = "") -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.told = told

    def __deepcopy__(self, memo: dict[int, Any]) -> "SaysHow":
        made = SaysHow("by itself")
        memo[id(self)] = made
        made.inner = copy.deepcopy(self.inner, memo)
        return made


def test_a_module_that_says_how_it_is_copied_is_copied_so() -> None:
    """Its parts are the twin's all the same."""
    model = nn.Sequential(SaysHow(), nn.ReLU())
    model.again = model[0].inner
    twin = twin_of(model).model
    assert twin[0].told == "by itself"
    assert twin.again is twin[0].inner
    assert isinstance(twin[0].inner.weight, FakeTensor)


class Noted(OrderedDict[str, int]):
    """A dict with an attribute of its own."""


def test_containers_keep_kind_order_and_what_they_share() -> None:
    """Subclasses, attributes of containers, circles, and one list under two names."""
    model = nn.Identity()
    model.noted = Noted(b=1, a=2)
    model.noted.more = [1]
    model.listed = model.again = [model, {"twice": model.noted}]
    twin = twin_of(model).model
    assert type(twin.noted) is Noted
    assert list(twin.noted.items()) == [("b", 1), ("a", 2)]
    assert twin.noted.more == [1]
    assert twin.noted.more is not model.noted.more
    assert twin.listed is twin.again
    assert twin.listed[0] is twin
    assert twin.listed[1]["twice"] is twin.noted


def test_hooks_of_the_model_are_the_twins_and_bound_to_it() -> None:
    """A hook that is a method of the model is the twin's method on the twin."""

    class Hooked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.layer.register_forward_hook(self.note)

        def note(self, module: nn.Module, args: Any, output: Any) -> None:
            self.noted = output

    model = Hooked()
    twin = twin_of(model).model
    (hook,) = twin.layer._forward_hooks.values()
    assert hook.__self__ is twin
    twin.layer._forward_hooks.clear()
    assert len(model.layer._forward_hooks) == 1


def test_recurrent_layers_keep_their_flat_weights() -> None:
    """They hold their parameters a second time, and say themselves how they are set up again."""
    twin = twin_of(nn.LSTM(3, 4, 2)).model
    assert all(flat is own for flat, own in zip(twin._flat_weights, twin.parameters(), strict=True))
