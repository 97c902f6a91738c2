"""What follows from an earlier fault and what stands by itself; told of real models."""

from typing import Any

import pytest
import torch
from torch import nn

from tb_shapeplugin.record.finding import Finding
from tests.analyse.test_grouping import found
from tests.zoo.failing import Forward

X = torch.ones(4, 16)


def told(model: nn.Module, *args: torch.Tensor) -> list[tuple[str, str]]:
    """Of each finding that stands by itself its kind and the module that it stands at, of one at the root its op."""
    return [_named(finding) for finding in found(model, *args) if finding.caused_by is None]


def _named(finding: Finding) -> tuple[str, str]:
    return finding.kind, finding.module or finding.op.rpartition(".")[2]


def stream(*layers: nn.Module) -> Forward:
    """Residual layers, one after the other."""

    def function(self: Any, x: torch.Tensor) -> Any:
        for layer in self.layers:
            x = x + layer(x)
        return x

    return Forward(function, layers=nn.ModuleList(layers))


def block(norm: int = 16, wide: int = 16) -> nn.Module:
    """A norm and a layer, the stream 16 wide."""
    return nn.Sequential(nn.LayerNorm(norm), nn.Linear(16, wide))


def test_a_second_fault_with_the_numbers_of_the_first_is_no_consequence() -> None:
    """The stream is right, as all other layers take it: that a norm wants 32 says nothing of a layer that gives 32."""
    model = stream(block(), block(norm=32), block(), block(wide=32), block())
    assert told(model, X) == [("norm_features", "layers.1.0"), ("broadcast", "add")]


def test_layers_of_two_kinds_that_lack_the_same_number_are_two_faults() -> None:
    """Each is mended by itself."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.lstm(x)[0] + self.skip(x)

    model = Forward(function, lstm=nn.LSTM(24, 8, batch_first=True), skip=nn.Linear(24, 8))
    assert told(model, torch.ones(2, 5, 16)) == [("rnn_input", "lstm"), ("linear_in_features", "skip")]


def _mixing(self: Any, x: torch.Tensor) -> Any:
    return x + self.along(self.norm(x).transpose(1, 2)).transpose(1, 2)


def test_a_layer_that_wants_what_another_one_is_given_follows_from_the_order_of_axes() -> None:
    """20 channels and 16 places stand the wrong way round: the norm, the mixing along the places and the sum meet one fault."""
    model = Forward(_mixing, norm=nn.LayerNorm(20), along=nn.Linear(16, 16))
    assert told(model, torch.ones(2, 20, 16)) == [("norm_features", "norm")]


def test_a_sum_that_differs_in_a_further_dim_has_a_fault_of_its_own() -> None:
    """What mends the order of axes leaves the 32 as it is."""
    model = Forward(_mixing, norm=nn.LayerNorm(20), along=nn.Linear(16, 32))
    assert told(model, torch.ones(2, 20, 16)) == [("norm_features", "norm"), ("broadcast", "add")]


def test_all_parts_of_a_split_that_leaves_a_remainder_are_one_fault() -> None:
    """Parts of 17, 17 and 14 where each should be 16."""

    def function(self: Any, x: torch.Tensor) -> Any:
        q, k, v = x.split(17, dim=1)
        q = q.view(4, -1, 8)
        k = k.view(4, -1, 8)
        v = v.view(4, -1, 8)
        return q + k + v

    assert told(Forward(function), torch.ones(4, 48)) == [("view_numel", "view")]


def test_parts_of_a_split_that_was_stated_are_judged_by_themselves() -> None:
    """Whoever states 17, 15 and 16 means it: that two views don't fit are two faults."""

    def function(self: Any, x: torch.Tensor) -> Any:
        q, k, v = x.split([17, 15, 16], dim=1)
        q = q.view(4, -1, 8)
        k = k.view(4, -1, 8)
        return q.sum() + k.sum() + v.sum()

    assert told(Forward(function), torch.ones(4, 48)) == [("view_numel", "view"), ("view_numel", "view")]


def test_an_empty_batch_is_one_fault_however_often_it_is_viewed() -> None:
    """The first view is told, with the input as its origin; the -1 of the others can't be told either."""

    def function(self: Any, x: torch.Tensor) -> Any:
        q = self.q(x).view(x.shape[0], 6, -1, 8)
        k = self.k(x).view(x.shape[0], 6, -1, 8)
        return self.out((q + k).reshape(x.shape[0], 6, -1))

    first, *others = found(Forward(function, q=nn.Linear(16, 16), k=nn.Linear(16, 16), out=nn.Linear(16, 3)), torch.ones(0, 6, 16))
    assert (first.kind, first.got, first.caused_by) == ("view_numel", {"size": 0}, None)
    assert first.origin is not None
    assert first.origin.op.startswith("input")
    assert [finding.caused_by is first for finding in others] == [True, True]


def test_a_rank_that_is_itself_a_guess_is_no_fault_of_who_meets_it() -> None:
    """What a sum of two and three axes gives is a guess; who takes fewer axes behind it follows from the sum."""

    def function(self: Any, x: torch.Tensor) -> Any:
        y = x.transpose(1, 2)[..., None] + torch.ones(2, 3, 9)
        return y.permute(0, 2, 1), self.conv(y)

    assert told(Forward(function, conv=nn.Conv1d(3, 4, 1)), torch.ones(2, 3, 8)) == [("broadcast", "add")]


def test_what_a_recurrent_layer_gives_is_no_guess() -> None:
    """Its hidden size is known whatever comes in: the head that doesn't take it is wrong by itself."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.head(self.lstm(x)[0][:, -1])

    model = Forward(function, lstm=nn.LSTM(6, 8, batch_first=True), head=nn.Linear(48, 3))
    assert told(model, torch.ones(4, 7, 12)) == [("rnn_input", "lstm"), ("linear_in_features", "head")]


@pytest.mark.parametrize("training", [True, False])
def test_a_padding_mask_of_another_length_is_one_fault(training: bool) -> None:
    """In evaluation the encoder would have used the mask at once, and its layers meet it again."""

    def function(self: Any, x: torch.Tensor, mask: torch.Tensor) -> Any:
        return self.encoder(x, src_key_padding_mask=mask)

    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
    model = Forward(function, encoder=encoder).train(training)
    assert [kind for kind, _ in told(model, torch.ones(2, 5, 16), torch.zeros(2, 6, dtype=torch.bool))] == ["mask_shape"]


@pytest.mark.parametrize("layers", [1, 2])
def test_a_state_of_one_tensor_is_one_fault_of_the_recurrent_layer(layers: int) -> None:
    """What the layer reads out of its state is its own business: with one layer torch fails in taking the state apart."""

    def function(self: Any, x: torch.Tensor, state: torch.Tensor) -> Any:
        return self.lstm(x, state)[0]

    model = Forward(function, lstm=nn.LSTM(6, 8, layers, batch_first=True))
    assert told(model, torch.ones(4, 7, 6), torch.zeros(layers, 4, 8)) == [("rnn_state", "lstm")]


def _graph(self: Any, nodes: torch.Tensor) -> Any:
    sent = self.message(nodes)
    heard = torch.zeros_like(nodes).index_add(0, torch.tensor([0, 1, 2, 3]), sent)
    return self.update(torch.cat([nodes, heard], dim=1))


def test_what_is_joined_of_a_wrong_number_follows_from_it() -> None:
    """Nodes of 7 where 6 are wanted: the sum of messages meets 7 and 6, the update gets 14 = 7 + 7 where 12 = 6 + 6 are wanted."""
    model = Forward(_graph, message=nn.Linear(6, 6), update=nn.Linear(12, 3))
    assert told(model, torch.ones(4, 7)) == [("linear_in_features", "message")]


def test_what_is_joined_stands_by_itself_where_the_right_number_would_not_do() -> None:
    """13 are wanted, and 6 + 6 are no 13."""
    model = Forward(_graph, message=nn.Linear(6, 6), update=nn.Linear(13, 3))
    assert told(model, torch.ones(4, 7)) == [("linear_in_features", "message"), ("linear_in_features", "update")]


def test_what_is_flattened_of_a_wrong_number_follows_from_it() -> None:
    """8 channels where the norm wants 16, and 8·4 features where the head wants 16·4."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.head(self.norm(self.conv(x)).flatten(1))

    model = Forward(function, conv=nn.Conv2d(3, 8, 3), norm=nn.BatchNorm2d(16), head=nn.Linear(64, 3))
    assert told(model, torch.ones(2, 3, 4, 4)) == [("norm_features", "norm")]


def test_what_is_joined_of_the_size_that_a_cell_gives_in_place_of_its_states_follows_from_the_cell() -> None:
    """The cell keeps 17 where its state has 16: the head gets 33 = 17 + 16 where 32 are wanted."""

    def function(self: Any, x: torch.Tensor, state: torch.Tensor) -> Any:
        return self.head(torch.cat([self.cell(x, state), state], dim=1))

    model = Forward(function, cell=nn.GRUCell(6, 17), head=nn.Linear(32, 3))
    assert told(model, torch.ones(4, 6), torch.ones(4, 16)) == [("rnn_state", "cell")]


class Attention(nn.Module):
    """Takes three parts of a split that gives two."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = x.split(8, dim=-1)
        return q + k + v


def test_a_layer_behind_a_module_that_takes_a_wrong_number_of_parts_stands_by_itself() -> None:
    """The stream that the module adds to goes on as wide as it came."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.head(x + self.attention(x))

    model = Forward(function, attention=Attention(), head=nn.Linear(20, 3))
    assert told(model, X) == [("rank", "attention"), ("linear_in_features", "head")]
