"""Faults of one statement, of an order of axes, of an input that the code refuses: each gets a fix that runs, and no other."""

from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.record.finding import Finding


class Thirds(nn.Module):
    """x[2,5,12] ─ qkv 36 ─ split(size) ─ three parts of 12."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.qkv = size, nn.Linear(12, 36)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).split(self.size + 0, dim=2)
        return q.view(2, 5, 3, 4).flatten(2) + k.view(2, 5, 3, 4).flatten(2) + v.view(2, 5, 3, 4).flatten(2)


class Viewed(nn.Module):
    """x[2,12].view(2, 3, -1, 2) ─ fc 4→5 ✗."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.view(2, 3, -1, 2)
        result: torch.Tensor = self.fc(x)
        return result


class Turned(nn.Module):
    """x[4,6] + layer(x).T[6,4] ✗, in each of five rounds."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x).transpose(-1, -2)
        return x


class Types(nn.Module):
    """kinds[1,6].expand(6, 2) ✗ ─ embedded, added to x[2,6,8] ✗ behind it: (2, 6) was meant."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(3, 8)
        self.kinds: torch.Tensor
        self.register_buffer("kinds", torch.zeros(1, 6, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length = x.shape[:2]
        kinds = self.kinds.expand(length, batch)
        return x + self.table(kinds)


class ChannelsNorm(nn.LayerNorm):
    """x[2,8,5,5].permute(-1, 2, 3, 1) ✗: dim 3 twice, dim 0 not at all; a norm by its name, with code of its own."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input.permute(-1, 2, 3, 1)).permute(0, 3, 1, 2)


class Tokens(nn.Module):
    """ids[2,6,1] ─ table[2,6,1,8] + places[6,8]: broadcasts to 6·6 ─ view(2, 6, 8) ✗, far from the axis too many."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(9, 8), nn.Parameter(torch.zeros(6, 8))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return (self.table(ids) + self.places).view(2, 6, 8)


class Words(nn.Module):
    """ids[1,2,6] ─ table[1,2,6,8] + places[:2] ✗: the length is read off the wrong axis."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(9, 8), nn.Parameter(torch.zeros(7, 8))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids) + self.places[: ids.shape[1]]


class Stepwise(nn.Module):
    """state[3,6] in a GRU cell of 9 ✗, whose output a layer of 6 takes."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(4, 9), nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.cell(x, x.new_zeros(3, 6)))


class Sides(nn.Module):
    """conv(x).shape taken apart in four, as a batch has them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        batch, channels, _, _ = x.shape
        return x.reshape(batch, channels, -1)


class Heads(nn.Module):
    """Three layers that take the input, each in float32."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.q(x) + self.k(x) + self.v(x)
        return result


class Mixed(nn.Module):
    """conv(x)[2,6,4,4].flatten(2).transpose(1, 2) ─ norm of 6: a batch or an order that is missing fails only there."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 6, 2, stride=2), nn.LayerNorm(6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.norm(self.conv(x).flatten(2).transpose(1, 2))
        return result


class Counted(nn.Module):
    """Positions for as many ids as there are in ids.shape[1]."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(9, 4), nn.Embedding(9, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places: torch.Tensor = self.places(torch.arange(ids.shape[1]))
        return places + self.words(ids)


class Refuses(nn.Module):
    """A check of its own before its convolution, of channels or of values."""

    def __init__(self, *, values: bool) -> None:
        super().__init__()
        self.values, self.conv = values, nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.values and float(x.max()) > 0.5:
            raise ValueError("the height of the highest value is above 0.5")
        if not self.values and (x.ndim != 4 or x.shape[1] != self.conv.in_channels):
            raise ValueError("Make sure that the channel dimension is the one that was configured.")
        return self.conv(x)


class Row(nn.Module):
    """x[2,4][40] ✗."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[40].relu()


class Summed(nn.Module):
    """index_add_ with rows[1,3] ✗ as its index: a vector was meant."""

    def forward(self, x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return torch.zeros(5, 4).index_add(0, rows[1:], x)


class Graph(nn.Module):
    """x[5,6] ─ first 6→10, 6 was meant ─ message 6→6 ✗, added to 10 ✗ ─ last 36 ✗: what the best fix of one spoils for the others."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.message, self.last = nn.Linear(6, 10), nn.Linear(6, 6), nn.Linear(36, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        return self.last(torch.cat([x, x + self.message(x)], dim=1))


def errors(model: nn.Module, *args: Any) -> list[Finding]:
    """What stands by itself."""
    found = shapes.capture(model, args).findings
    return [finding for finding in found if finding.severity == "error" and finding.caused_by is None]


def the_only(model: nn.Module, *args: Any) -> Finding:
    """The one finding that there has to be."""
    (finding,) = errors(model, *args)
    return finding


def best(finding: Finding) -> str:
    """Its first verified fix."""
    return next(fix.text for fix in finding.fixes if fix.verified)


def test_a_statement_that_fails_in_each_block_is_repaired_in_each() -> None:
    """36 in pieces of 24 are two, the code takes three apart: 12 in every block."""
    finding = the_only(nn.Sequential(*(Thirds(24) for _ in range(3))), torch.randn(2, 5, 12))
    assert best(finding).startswith("split(12, dim=2), and the same in ")
    assert len(finding.fixes[0].changes) == 3


def test_a_statement_in_a_loop_is_repaired_in_each_round() -> None:
    """The repair of the first round alone only uncovers the second one."""
    finding = the_only(Turned(), torch.randn(4, 6))
    assert best(finding).endswith("transpose(0, 1) in add, each time")
    assert len(finding.fixes[0].changes) == 5


def test_a_layer_that_gives_too_few_pieces_is_made_as_wide_as_the_code_takes_apart() -> None:
    """24 in pieces of 12 are two, the code takes three apart: 36 are three."""
    model = Thirds(12)
    model.qkv = nn.Linear(12, 24)
    assert "qkv = nn.Linear(12, 36)" in [fix.text for fix in the_only(model, torch.randn(2, 5, 12)).fixes if fix.verified]


def test_a_size_too_many_is_left_out_where_the_failing_call_is_another_one() -> None:
    """The view itself runs; the layer behind it takes 4, as (2, 3, -1) without the 2 gives them."""
    finding = the_only(Viewed(), torch.randn(2, 12))
    assert finding.module == "fc"
    assert any(fix.verified and fix.text.startswith("view(2, 3, -1) in line") for fix in finding.fixes)


def _last_state(x: torch.Tensor) -> torch.Tensor:
    return x[:, -9, :]


def _first_of_all(x: torch.Tensor) -> torch.Tensor:
    return x[..., 0] @ torch.ones(4, 3)


def _one_row_lost(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:, 1:], x], dim=2)


def _axis_lost(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:, 0], x], dim=1)


def _beside_others(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:, 0::2], x[:, 1]], dim=-1)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (_last_state, "x[:, -1, :]"),
        (_first_of_all, "[..., :] in line"),
        (_one_row_lost, "[:, :]"),
        (_axis_lost, "[:, 0:1]"),
        (_beside_others, "[:, 0::2]"),
    ],
)
def test_brackets_are_written_otherwise(code: Any, text: str) -> None:
    """The last entry for one that isn't there; an axis kept, dropped, or taken whole; as the brackets beside them."""
    finding = the_only(code, torch.randn(2, 6, 4))
    assert any(fix.verified and fix.text.startswith(text) for fix in finding.fixes), [fix.text for fix in finding.fixes]


class Swelling(nn.Module):
    """x[4,8] + layer(x)[4,8,1] ✗, in each of 30 rounds: x.unsqueeze(1) runs, and is four times as large in each round."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(30))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)[..., None]
        return x


def test_what_fills_any_memory_is_no_repair() -> None:
    """A shape-level run would let it pass."""
    for finding in errors(Swelling(), torch.randn(4, 8)):
        assert not any("x.unsqueeze(" in fix.text for fix in finding.fixes if fix.verified)


def test_lengths_without_an_axis_are_told_by_their_own_name() -> None:
    """They are the second argument of a function of a library; of that call no change is offered, as no function mode hears of it."""

    def packed(sounds: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return nn.utils.rnn.pack_padded_sequence(sounds, lengths, batch_first=True, enforce_sorted=False).data

    (finding,) = errors(packed, torch.randn(1, 5, 3), torch.tensor(5))
    texts = [fix.text for fix in finding.fixes if fix.verified]
    assert "lengths.unsqueeze(0)" in texts
    assert not any("in pack_padded_sequence" in text for text in texts)


def test_pieces_of_one_wrong_split_are_one_fault_behind_another_one() -> None:
    """Pieces of 13, 13 and 10: three views fail, one split is wrong; what is assumed before it bars no way to it."""
    first, second = errors(nn.Sequential(nn.Linear(7, 12), Thirds(13)), torch.randn(2, 5, 12))
    assert best(first) == "nn.Linear(12, 12)"
    assert best(second).startswith("split(12, dim=2) in line")


def test_two_sizes_in_the_wrong_order_change_places() -> None:
    """Of the expands that run, the one is told with which what follows runs, too."""
    finding = the_only(Types(), torch.randn(2, 6, 8))
    assert [fix.text for fix in finding.fixes if fix.verified] == ["expand(2, 6)"]


def test_an_axis_named_twice_gives_way_to_the_one_left_out() -> None:
    """The operands show it: it is told as a matter of axes, in a class that only bears the name of a layer of torch's."""
    finding = the_only(nn.Sequential(ChannelsNorm(8)), torch.randn(2, 8, 5, 5))
    assert (finding.kind, finding.got, finding.want) == ("rank", {"axes": 3}, {"axes": 4})
    assert "orders 3 of the 4 axes of f32[2,8,5,5]: dim 3 twice, dim 0 not at all" in finding.message
    assert best(finding) == "permute(0, 2, 3, 1)"


@pytest.mark.parametrize(
    ("model", "x", "text"),
    [
        (Tokens(), torch.zeros(2, 6, 1, dtype=torch.int64), "ids.squeeze(2)"),
        (Words(), torch.zeros(1, 2, 6, dtype=torch.int64), "ids.squeeze(0)"),
        (Sides(), torch.randn(3, 9, 9), "x.unsqueeze(0)"),
        (Refuses(values=False), torch.rand(3, 9, 9), "x.unsqueeze(0)"),
        (Refuses(values=False), torch.rand(2, 1, 9, 9), "x.repeat_interleave(3, dim=1)"),
        (Refuses(values=False), torch.rand(2, 243), "x.reshape(2, 3, 9, 9)"),
        (Refuses(values=False), torch.rand(2, 9, 9, 3), "x.permute(0, 3, 1, 2)"),
        (Row(), torch.randn(2, 4), "x[1]"),
    ],
)
def test_what_a_model_is_given_is_brought_into_its_form(model: nn.Module, x: torch.Tensor, text: str) -> None:
    """An axis too many or too few, channels that its code asks for, an entry that there is."""
    assert text in [fix.text for fix in the_only(model, x).fixes if fix.verified]


def test_a_cell_is_made_for_the_state_that_it_gets() -> None:
    """Its name stands in front, as it is written; what reads its output fits then, too."""
    texts = [fix.text for finding in errors(Stepwise(), torch.randn(3, 4)) for fix in finding.fixes if fix.verified]
    assert "nn.GRUCell(4, 6)" in texts


def test_an_index_is_made_the_vector_that_it_has_to_be() -> None:
    """Its own axes are told to be wrong: they may be changed, those of the table not."""
    finding = the_only(Summed(), torch.randn(3, 4), torch.tensor([[0, 1, 2], [0, 2, 4]]))
    assert best(finding) == "rows[1:].squeeze(0) in index_add"


def test_layers_of_one_fault_with_sizes_of_their_own_are_each_made_for_theirs() -> None:
    """Where several places are one finding, what is done at each fits it: no layer takes the numbers of the first one."""
    told = errors(nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(15, 3)), torch.randn(4, 8))
    changes = [dict(change) for finding in told for change in next(fix for fix in finding.fixes if fix.verified).changes]
    assert [(change["module"], change["value"]) for change in changes] == [("0", 8), ("2", 16)]


def test_where_the_best_fix_of_one_leads_nowhere_another_is_begun_with() -> None:
    """Message made for 10 leaves a sum of 10 and 6; first made for 6 repairs both, and last gets 12."""
    told = errors(Graph(), torch.randn(5, 6))
    assert best(told[0]) == "first = nn.Linear(6, 6)"
    assert best(told[-1]) == "nn.Linear(12, 2)"


def test_a_check_of_values_gets_no_fix_of_a_shape() -> None:
    """Its words may speak of a height: with any shape it raises again, and nothing untried is told."""
    finding = the_only(Refuses(values=True), torch.ones(2, 3, 9, 9))
    assert (finding.kind, finding.fixes) == ("user_error", ())
