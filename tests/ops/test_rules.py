"""Every rule against torch itself on the meta device: what fits gives torch's shapes, what doesn't is told as a clash."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tb_shapeplugin.ops.rules import gives, requires
from tests.ops.observed import blank, ids, mask, observe

M = blank
FITS: dict[str, list[Callable[[], Any]]] = {
    "linear": [
        lambda: F.linear(M(4, 7, 8), M(3, 8), M(3)),
        lambda: F.linear(M(8), M(3, 8)),
        lambda: F.bilinear(M(4, 5), M(4, 6), M(3, 5, 6)),
    ],
    "matmul": [
        lambda: M(4, 8) @ M(8, 3),
        lambda: M(8) @ M(8),
        lambda: M(8) @ M(2, 8, 3),
        lambda: M(2, 1, 4, 8) @ M(5, 8, 3),
        lambda: M(2, 4, 8) @ M(8),
        lambda: torch.mm(M(4, 8), M(8, 3)),
        lambda: torch.bmm(M(2, 4, 8), M(2, 8, 3)),
        lambda: torch.mv(M(4, 8), M(8)),
        lambda: torch.addmm(M(3), M(4, 8), M(8, 3)),
        lambda: torch.baddbmm(M(2, 4, 3), M(2, 4, 8), M(2, 8, 3)),
    ],
    "convolution": [
        lambda: F.conv1d(M(2, 4, 20), M(6, 4, 3), stride=2, padding=1),
        lambda: F.conv2d(M(2, 4, 20, 17), M(6, 2, 3, 5), M(6), 2, (1, 2), 1, 2),
        lambda: F.conv2d(M(4, 20, 20), M(6, 4, 3, 3)),
        lambda: F.conv2d(M(2, 4, 20, 20), M(6, 4, 3, 3), padding="same", dilation=2),
        lambda: F.conv2d(M(2, 4, 20, 20), M(6, 4, 4, 4), padding="valid"),
        lambda: F.conv3d(M(2, 4, 9, 9, 9), M(6, 4, 3, 3, 3), dilation=2),
        lambda: F.conv_transpose1d(M(2, 4, 18), M(4, 2, 4), stride=2, padding=1),
        lambda: F.conv_transpose2d(M(2, 4, 5, 5), M(4, 3, 2, 2), M(6), 2, 0, 1, 2),
        lambda: F.conv_transpose3d(M(2, 4, 5, 5, 5), M(4, 3, 2, 2, 2), stride=2),
    ],
    "normalization": [
        lambda: F.batch_norm(M(4, 6, 5, 5), M(6), M(6), M(6), M(6)),
        lambda: F.batch_norm(M(4, 6), None, None, training=True),
        lambda: F.instance_norm(M(4, 6, 5), weight=M(6), bias=M(6)),
        lambda: F.group_norm(M(4, 6, 5), 3, M(6), M(6)),
        lambda: F.layer_norm(M(4, 6, 5), (6, 5), M(6, 5)),
        lambda: F.rms_norm(M(4, 6, 5), (5,), M(5)),
    ],
    "elementwise": [
        lambda: F.relu(M(4, 5)),
        lambda: F.dropout(M(4, 5), 0.5),
        lambda: M(4, 1, 5) + M(3, 1),
        lambda: 1 - M(4, 5),
        lambda: M(4, 5) ** 2,
        lambda: 2 // M(4, 5),
        lambda: M(4, 5) > M(5),
        lambda: mask(4, 5) & mask(5),
        lambda: torch.where(mask(4, 1), M(5), M(4, 5)),
        lambda: M(4, 5).add_(M(5)),
        lambda: M(4, 5).copy_(M(1, 5)),
        lambda: F.softmax(M(4, 5), -1),
        lambda: M(4, 5).cumsum(1),
        lambda: torch.lerp(M(4, 5), M(4, 5), 0.5),
    ],
    "joining": [
        lambda: torch.cat([M(4, 2, 5), M(4, 3, 5)], 1),
        lambda: torch.cat((M(4, 2), M(4, 3)), dim=-1),
        lambda: torch.cat([M(0), M(4, 3)]),
        lambda: torch.stack([M(4, 3), M(4, 3)], 1),
        lambda: torch.stack([M(4, 3), M(4, 3)], -1),
    ],
    "viewing": [
        lambda: M(4, 6).view(-1, 8),
        lambda: M(4, 6).view((2, 12)),
        lambda: M(4, 6).reshape(3, 2, 4),
        lambda: torch.reshape(M(4, 6), (-1,)),
        lambda: M(4, 6).view_as(M(2, 12)),
        lambda: M(4, 6, 5, 5).flatten(1),
        lambda: torch.flatten(M(4, 6, 5), 0, 1),
        lambda: torch.flatten(M()),
        lambda: M(4, 12).unflatten(1, (3, -1)),
    ],
    "axes": [
        lambda: M(4, 6, 5).permute(0, 2, 1),
        lambda: torch.permute(M(4, 6, 5), (2, 0, 1)),
        lambda: M(4, 6, 5).transpose(-1, 0),
        lambda: M(4, 6).t(),
        lambda: M(4, 6).T,
        lambda: M(3, 4, 6).mT,
        lambda: M(4, 6, 5, 2).movedim(1, -1),
        lambda: torch.movedim(M(4, 6, 5, 2), (0, 1), (2, 0)),
        lambda: M(4, 1, 5, 1).squeeze(),
        lambda: M(4, 1, 5).squeeze(1),
        lambda: M(4, 1, 5).squeeze(0),
        lambda: M(4, 5).unsqueeze(1),
        lambda: M(4, 5).unsqueeze(-1),
        lambda: M(1, 5).expand(4, -1),
        lambda: M(5).expand(3, 4, 5),
        lambda: M(1, 5).expand_as(M(4, 5)),
        lambda: M(4, 5).repeat(2, 1, 3),
        lambda: M(4, 5).tile(2),
        lambda: M(4, 5).repeat_interleave(3, 1),
    ],
    "splitting": [
        lambda: M(4, 7).split(3, 1),
        lambda: M(4, 7).split([3, 4], dim=1),
        lambda: torch.split(M(4, 7), 2),
        lambda: M(4, 7).chunk(3, -1),
        lambda: M(3, 7).unbind(),
        lambda: M(3, 7).select(1, -1),
        lambda: M(3, 7).narrow(1, 2, 4),
    ],
    "pooling": [
        lambda: F.max_pool2d(M(2, 3, 11, 10), 2),
        lambda: F.max_pool2d(M(3, 11, 10), 3, 2, 1, ceil_mode=True),
        lambda: F.max_pool1d(M(2, 3, 11), 3, 2, dilation=2),
        lambda: F.max_pool2d(M(2, 3, 11, 10), 2, return_indices=True),
        lambda: F.avg_pool2d(M(2, 3, 11, 10), (3, 2), (2, 1)),
        lambda: F.avg_pool1d(M(2, 3, 11), 2, ceil_mode=True),
        lambda: F.adaptive_avg_pool2d(M(2, 3, 11, 10), 1),
        lambda: F.adaptive_avg_pool2d(M(2, 3, 11, 10), (4, None)),
    ],
    "resampling": [
        lambda: F.interpolate(M(2, 3, 8, 8), size=(5, 6), mode="bilinear"),
        lambda: F.interpolate(M(2, 3, 8, 8), size=5),
        lambda: F.interpolate(M(2, 3, 9), scale_factor=1.5),
        lambda: F.pad(M(2, 3, 8), (1, 2)),
        lambda: F.pad(M(2, 3, 8, 8), (1, 2, 3, 4), mode="reflect"),
        lambda: F.pad(M(2, 3, 8), (1, -3)),
        lambda: F.pixel_shuffle(M(2, 12, 4, 5), 2),
        lambda: F.pixel_unshuffle(M(2, 3, 4, 6), 2),
        lambda: F.unfold(M(2, 3, 8, 8), 3, padding=1, stride=2),
        lambda: M(4, 10).unfold(1, 3, 2),
        lambda: F.grid_sample(M(2, 3, 8, 8), M(2, 5, 6, 2), align_corners=False),
    ],
    "embedding": [lambda: F.embedding(ids(2, 6), M(10, 4))],
    "attention": [
        lambda: F.scaled_dot_product_attention(M(2, 3, 5, 4), M(2, 3, 6, 4), M(2, 3, 6, 7)),
        lambda: F.scaled_dot_product_attention(M(2, 3, 5, 4), M(2, 3, 6, 4), M(2, 3, 6, 4), attn_mask=mask(5, 6)),
        lambda: F.scaled_dot_product_attention(M(2, 6, 5, 4), M(2, 3, 6, 4), M(2, 3, 6, 4), enable_gqa=True),
        lambda: torch.nn.MultiheadAttention(8, 2)(M(5, 3, 8), M(6, 3, 8), M(6, 3, 8)),
        lambda: torch.nn.MultiheadAttention(8, 2)(M(5, 8), M(6, 8), M(6, 8), need_weights=False),
        lambda: torch.nn.MultiheadAttention(8, 2)(M(5, 3, 8), M(6, 3, 8), M(6, 3, 8), average_attn_weights=False),
    ],
    "losses": [
        lambda: F.cross_entropy(M(8, 4), ids(8)),
        lambda: F.cross_entropy(M(8, 4, 5), ids(8, 5), reduction="none"),
        lambda: F.cross_entropy(M(8, 4), M(8, 4)),
        lambda: F.nll_loss(M(8, 4), ids(8)),
        lambda: F.binary_cross_entropy_with_logits(M(8, 1), M(8, 1)),
        lambda: F.mse_loss(M(8, 4), M(8, 4), reduction="none"),
        lambda: F.cosine_embedding_loss(M(8, 4), M(8, 4), M(8)),
    ],
    "einsum": [
        lambda: torch.einsum("bij,bjk->bik", M(2, 4, 8), M(2, 8, 3)),
        lambda: torch.einsum("ij,jk", M(4, 8), M(8, 3)),
        lambda: torch.einsum("i,j->ij", [M(4), M(3)]),
    ],
    "reduction": [
        lambda: M(4, 6, 5).sum(),
        lambda: M(4, 6, 5).mean(1),
        lambda: M(4, 6, 5).mean((-1, -2), keepdim=True),
        lambda: torch.sum(M(4, 6), dim=1),
        lambda: M(4, 6).max(1),
        lambda: M(4, 6).max(),
        lambda: M(4, 6).max(M(6)),
        lambda: M(4, 6).argmax(-1),
        lambda: M(4, 6).std(1),
        lambda: M(4, 6).topk(3),
        lambda: M(4, 6).sort(),
        lambda: M(4, 6).norm(2, 1),
        lambda: M(4, 6).amax((0, 1)),
    ],
    "indexing": [
        lambda: M(4, 6, 5)[0],
        lambda: M(4, 6, 5)[:, 1:-1],
        lambda: M(4, 6, 5)[..., ::2],
        lambda: M(4, 6, 5)[:, None, -1],
        lambda: M(4, 6, 5)[ids(3)],
        lambda: M(4, 6, 5)[:, ids(3, 2)],
        lambda: M(4, 6, 5)[ids(3), :, ids(3)],
        lambda: M(4, 6, 5)[0, :, ids(3)],
        lambda: M(4, 6, 5).__setitem__(0, M(5)),
        lambda: M(4, 6, 5).gather(1, ids(4, 2, 5)),
        lambda: M(4, 6).scatter(1, ids(4, 2), M(4, 2)),
        lambda: M(4, 6).index_select(1, ids(3)),
        lambda: M(4, 6).index_add(0, ids(3), M(3, 6)),
        lambda: M(4, 6).masked_fill(mask(4, 1), 0.0),
    ],
}

FAILS: list[tuple[str, dict[str, int], dict[str, int], Callable[[], Any]]] = [
    ("linear_in_features", {"in_features": 864}, {"in_features": 1176}, lambda: F.linear(M(4, 864), M(120, 1176))),
    ("linear_in_features", {"in_features": 5}, {"in_features": 6}, lambda: F.bilinear(M(4, 5), M(4, 6), M(3, 6, 6))),
    ("matmul_dims", {"inner": 784}, {"inner": 10}, lambda: M(1, 784) @ M(10, 784)),
    ("matmul_dims", {"inner": 8}, {"inner": 9}, lambda: torch.bmm(M(2, 4, 8), M(2, 9, 3))),
    ("matmul_dims", {"batch": 2}, {"batch": 3}, lambda: torch.bmm(M(2, 4, 8), M(3, 8, 3))),
    ("matmul_dims", {"inner": 7}, {"inner": 8}, lambda: torch.einsum("bij,bjk->bik", M(2, 4, 8), M(2, 7, 3))),
    ("matmul_dims", {"inner": 8}, {"inner": 7}, lambda: torch.addmm(M(3), M(4, 8), M(7, 3))),
    ("broadcast", {"size": 2}, {"size": 3}, lambda: M(2, 4, 8) @ M(3, 8, 3)),
    ("rank", {"ndim": 3}, {"ndim": 2}, lambda: torch.mm(M(2, 4, 8), M(8, 3))),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: torch.bmm(M(4, 8), M(2, 8, 3))),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: torch.einsum("bij,bjk->bik", M(4, 8), M(2, 8, 3))),
    ("conv_channels", {"channels": 36}, {"channels": 3}, lambda: F.conv2d(M(1, 36, 42, 3), M(10, 3, 3, 3))),
    ("conv_channels", {"channels": 6}, {"channels": 8}, lambda: F.conv2d(M(2, 6, 9, 9), M(10, 4, 3, 3), groups=2)),
    ("conv_channels", {"channels": 6}, {"channels": 4}, lambda: F.conv_transpose2d(M(2, 6, 9, 9), M(4, 3, 2, 2))),
    ("rank", {"ndim": 5}, {"ndim": 4}, lambda: F.conv2d(M(2, 8, 3, 16, 16), M(4, 3, 3, 3))),
    ("rank", {"ndim": 4}, {"ndim": 3}, lambda: F.conv1d(M(32, 24, 1, 12), M(16, 24, 3))),
    ("conv_kernel", {"size": 4}, {"min_size": 5}, lambda: F.conv2d(M(2, 3, 2, 9), M(4, 3, 5, 5), padding=1)),
    ("conv_kernel", {"size": 1}, {"min_size": 2}, lambda: F.max_pool2d(M(2, 3, 1, 1), 2)),
    ("norm_features", {"features": 36}, {"features": 2048}, lambda: F.batch_norm(M(2, 36, 2048), M(2048), M(2048))),
    ("norm_features", {"features": 20}, {"features": 256}, lambda: F.layer_norm(M(4, 256, 20, 20), (256,), M(256), M(256))),
    ("norm_features", {"features": 6}, {"features": 9}, lambda: F.group_norm(M(4, 6, 5), 3, M(9), M(9))),
    ("norm_batch_one", {"values": 1}, {"min_values": 2}, lambda: F.batch_norm(M(1, 6), M(6), M(6), training=True)),
    ("divisible", {"channels": 10}, {"multiple_of": 4}, lambda: F.group_norm(M(2, 10, 3), 4)),
    ("divisible", {"channels": 10}, {"multiple_of": 4}, lambda: F.pixel_shuffle(M(2, 10, 3, 3), 2)),
    ("divisible", {"size": 7}, {"multiple_of": 2}, lambda: F.pixel_unshuffle(M(2, 10, 8, 7), 2)),
    ("divisible", {"size": 15}, {"multiple_of": 2}, lambda: M(4, 96, 15, 15).reshape(4, 96, 7, 2, 7, 2)),
    ("broadcast", {"size": 37}, {"size": 36}, lambda: M(1, 2, 37) + M(1, 2, 36)),
    ("broadcast", {"size": 4}, {"size": 32}, lambda: M(4, 5, 5).expand_as(M(4, 32, 5, 5))),
    ("broadcast", {"channels": 1}, {"channels": 3}, lambda: M(1, 28, 28).sub_(M(3, 1, 1))),
    ("broadcast", {"size": 3}, {"size": 5}, lambda: M(4, 6, 5).__setitem__(0, M(3))),
    ("rank", {"ndim": 3}, {"ndim": 2}, lambda: M(2, 3, 4).expand(3, 4)),
    ("cat", {"size": 10}, {"size": 11}, lambda: torch.cat([M(1, 16, 11, 11), M(1, 16, 10, 10)], 1)),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: torch.cat([M(1, 8), M(4, 7, 8)], 1)),
    ("stack_ragged", {"size": 2}, {"size": 1}, lambda: torch.stack([M(1, 5), M(2, 5)])),
    ("view_numel", {"numel": 720}, {"multiple_of": 1152}, lambda: M(5, 4, 6, 6).view(-1, 1152)),
    ("view_numel", {"numel": 160}, {"numel": 640}, lambda: M(16, 10, 1, 1).view(64, 10)),
    ("view_numel", {"size": 49}, {"size": 196}, lambda: M(1, 12, 49).unflatten(2, (14, 14))),
    ("rank", {"ndim": 4}, {"ndim": 2}, lambda: M(5, 12, 7, 7).permute(1, 0)),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: M(5, 12).transpose(1, 2)),
    ("rank", {"ndim": 3}, {"ndim": 2}, lambda: M(5, 12, 3).t()),
    ("rank", {"ndim": 2}, {"ndim": 4}, lambda: M(5, 12).mean((-3, -4))),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: F.softmax(M(5, 12), 2)),
    ("rank", {"ndim": 2}, {"ndim": 3}, lambda: M(5, 12)[0, :, 1]),
    ("rank", {"ndim": 3}, {"ndim": 4}, lambda: F.interpolate(M(4, 32, 32), size=(256, 256), mode="bilinear")),
    ("rank", {"ndim": 3}, {"ndim": 2}, lambda: M(2, 3, 4).repeat(2, 2)),
    ("split_sizes", {"size": 8}, {"sum": 7}, lambda: M(4, 8).split([3, 4], 1)),
    ("pad_size", {"pad": 4}, {"below": 4}, lambda: F.pad(M(1, 1, 4), (0, 4), mode="reflect")),
    ("index_range", {"index": 6}, {"below": 6}, lambda: M(4, 6)[:, 6]),
    ("index_shape", {"width": 300}, {"width": 128}, lambda: M(4, 6, 128).gather(1, ids(4, 1, 300))),
    ("index_shape", {"ndim": 2}, {"ndim": 3}, lambda: M(4, 6, 128).gather(1, ids(4, 1))),
    ("index_shape", {"size": 4}, {"size": 3}, lambda: M(4, 6)[ids(3), ids(4)]),
    ("mask_shape", {"size": 6}, {"size": 5}, lambda: M(4, 5).masked_fill(mask(4, 6), 0.0)),
    ("mask_shape", {"length": 7}, {"length": 6}, lambda: F.scaled_dot_product_attention(M(2, 5, 4), M(2, 6, 4), M(2, 6, 4), mask(5, 7))),
    ("mask_shape", {"length": 77}, {"length": 2}, lambda: torch.nn.MultiheadAttention(8, 2)(*[M(2, 77, 8)] * 3, attn_mask=M(77, 77))),
    (
        "attn_layout",
        {"heads": 4},
        {"heads": 6},
        lambda: F.scaled_dot_product_attention(M(2, 6, 5, 4), M(2, 4, 7, 4), M(2, 4, 7, 4), enable_gqa=True),
    ),
    ("attn_layout", {"width": 5}, {"width": 4}, lambda: F.scaled_dot_product_attention(M(2, 5, 4), M(2, 6, 5), M(2, 6, 5))),
    ("attn_layout", {"width": 6}, {"width": 8}, lambda: torch.nn.MultiheadAttention(8, 2)(*[M(5, 3, 6)] * 3)),
    ("attn_layout", {"batch": 2}, {"batch": 3}, lambda: torch.nn.MultiheadAttention(8, 2)(M(5, 3, 8), *[M(6, 2, 8)] * 2)),
    ("loss_target_shape", {"rows": 32}, {"rows": 8}, lambda: F.cross_entropy(M(8, 4), ids(32))),
    ("loss_target_shape", {"ndim": 4}, {"ndim": 3}, lambda: F.cross_entropy(M(1, 4, 43, 49), ids(1, 43, 49, 3))),
    ("loss_target_shape", {"scores": 4}, {"scores": 100}, lambda: F.binary_cross_entropy(M(100), M(4))),
    ("loss_target_shape", {"size": 5}, {"size": 4}, lambda: F.mse_loss(M(8, 4), M(8, 5))),
    ("dtype", {"int_bits": 32}, {"int_bits": 64}, lambda: F.cross_entropy(M(8, 4), blank(8, dtype=torch.int32))),
    ("dtype", {"float_bits": 32}, {"int_bits": 64}, lambda: F.embedding(M(2, 3), M(5, 4))),
    ("dtype", {"float_bits": 64}, {"float_bits": 32}, lambda: F.linear(blank(3, 20, dtype=torch.float64), torch.nn.Parameter(M(4, 20)))),
    ("rank", {"ndim": 3}, {"ndim": 2}, lambda: F.cosine_embedding_loss(M(46, 16, 50), M(46, 16, 50), M(1))),
]  # fmt: skip


@pytest.mark.parametrize(("family", "run"), [(family, run) for family, runs in FITS.items() for run in runs])
def test_a_call_that_fits_gives_torchs_shapes_and_breaks_no_requirement(family: str, run: Callable[[], Any]) -> None:
    """The most plausible output of a call that runs is the one that torch gives."""
    seen = observe(run)
    assert seen.error is None
    assert requires(seen.call) is None, seen.call
    assert gives(seen.call)[0] == seen.shapes, (family, seen.call)


@pytest.mark.parametrize(("kind", "got", "want", "run"), FAILS)
def test_a_call_that_torch_refuses_is_told_with_its_numbers(
    kind: str, got: dict[str, int], want: dict[str, int], run: Callable[[], Any]
) -> None:
    """What torch raises on is a clash of the right kind, with the faulty side's number and the one that is needed."""
    seen = observe(run, "cpu")
    clash = requires(seen.call)
    assert clash is not None, seen.call
    assert (clash.kind, dict(clash.got), dict(clash.want)) == (kind, got, want)
    if kind != "dtype":  # told by its name, not by its bits
        assert all(str(number) in clash.words for number in (*got.values(), *want.values())), clash.words


@pytest.mark.parametrize(("kind", "got", "want", "run"), FAILS)
def test_what_is_told_as_a_clash_really_fails(kind: str, got: dict[str, int], want: dict[str, int], run: Callable[[], Any]) -> None:
    """Torch refuses each of those calls too, on the CPU, where it checks all that it ever does."""
    assert observe(run, "cpu").error is not None


def test_the_marked_dims_carry_the_numbers_that_are_told() -> None:
    """A clash's operands and dims point at its numbers."""
    for kind, got, want, run in FAILS:
        call = observe(run, "cpu").call
        clash = requires(call)
        assert clash is not None
        operands = {operand.id: operand for operand in call.operands()}
        if clash.operand >= 0 and clash.dim >= 0 and kind not in ("conv_kernel", "norm_batch_one", "pad_size", "index_range"):
            assert operands[clash.operand].shape[clash.dim] in got.values() or "numel" in got, clash
        if clash.other >= 0 and clash.other_dim >= 0 and kind != "conv_channels":
            assert operands[clash.other].shape[clash.other_dim] in want.values(), clash


def test_a_rule_gives_up_on_arguments_that_it_does_not_know() -> None:
    """A view to another dtype, an einsum with an ellipsis, a split by a tensor: nothing is said, nothing raised."""
    for run in (lambda: M(4, 6).view(torch.int32), lambda: torch.einsum("...ij->...ji", M(4, 6)), lambda: M(4, 6)[mask(4)]):
        try:
            call = observe(run).call
        except Exception as error:
            raise AssertionError("the call itself has to be observed") from error
        assert requires(call) is None
        assert gives(call) == ()
