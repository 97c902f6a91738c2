"""A working directory that holds a user's package."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=864):
        super().__init__()
        self.conv1, self.fc1 = nn.Conv2d(1, 6, 5), nn.Linear(width, 10)

    def forward(self, x):
        return self.fc1(torch.flatten(torch.max_pool2d(self.conv1(x), 2), 1))

class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(100, 8)

    def forward(self, ids, mask=None):
        h = self.wte(ids)
        return h if mask is None else h * mask[..., None]

built = Net()
number = 7
nothing = None

def alone():
    return Net()

def broken():
    return Net(1176), (torch.zeros(4, 1, 28, 28),)

def with_args():
    return Net(), (torch.zeros(4, 1, 28, 28),)

def with_kwargs():
    return Tokens(), (), {"ids": torch.zeros(2, 3, dtype=torch.int64)}

def wrong_tuple():
    return Net(), (), {}, "and more"

def wrong_kwargs():
    return Net(), (), ["x"]

def raises():
    raise ValueError("no\\nweights here")

def leaves():
    raise SystemExit("bye")
"""


@pytest.fixture(autouse=True)
def _user_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "user_nets").mkdir()
    (tmp_path / "user_nets" / "__init__.py").write_text("")
    (tmp_path / "user_nets" / "digits.py").write_text(SOURCE)
    (tmp_path / "user_nets" / "torn.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "user_nets"]:
        del sys.modules[name]
