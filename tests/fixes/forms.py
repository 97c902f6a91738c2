"""Every form of a change: a model that it repairs, and a model of another fault that it must leave alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.fixes.broken import (
    Built,
    Net,
    chained,
    channels_last,
    configured_batch,
    doubles,
    drawn_for_larger,
    forgot_flatten,
    labels_from_one,
    lost_axis,
    other_statistics,
    two_clips,
    wide_head,
)


@dataclass(frozen=True)
class Form:
    """What a change of the form holds, and the two models."""

    holds: Mapping[str, Any]  # keys of the change, with their values where the form is told by them
    repairs: Callable[[], Built]
    refuses: Callable[[], Built]

    def is_form_of(self, change: Mapping[str, Any]) -> bool:
        """Is the change of this form?"""
        return all(key in change and value in (None, change[key]) for key, value in self.holds.items())


def unbatched_picture() -> Built:
    """x[3,16,16] ─ Conv ─ BatchNorm2d ✗: the batch axis is missing."""
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)), (torch.randn(3, 16, 16),)


def axis_too_many() -> Built:
    """x[5,4,1,9] ─ Conv1d ✗."""
    return nn.Sequential(nn.Conv1d(4, 6, 3)), (torch.randn(5, 4, 1, 9),)


def one_hot_labels() -> Built:
    """Scores[8,4] against labels[8,4] as class numbers, flattened ✗."""
    run = lambda s, x, y: F.cross_entropy(s.fc(x), y.view(-1))  # noqa: E731  one line is the drawing
    return Net(run, fc=nn.Linear(6, 4)), (torch.randn(8, 6), torch.eye(4, dtype=torch.int64).repeat(2, 1))


def features_second() -> Built:
    """x[4,6,9] ─ fc 6→2 ✗: the features stand on the second axis."""
    return Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 2)), (torch.randn(4, 6, 9),)


def batched_twice() -> Built:
    """x[2,5,3,8,8] ─ Conv2d ✗."""
    return nn.Sequential(nn.Conv2d(3, 4, 3)), (torch.randn(2, 5, 3, 8, 8),)


def flat_mask() -> Built:
    """scores[5,3,3] with mask[45] ✗."""
    return Net(lambda s, x, m: x.masked_fill(m, 0.0)), (torch.randn(5, 3, 3), torch.zeros(45, dtype=torch.bool))


def coloured_mask() -> Built:
    """Scores[1,4,6,7] against a mask[1,6,7,3] that was read in colour ✗."""
    run = lambda s, x, y: F.cross_entropy(s.conv(x), y)  # noqa: E731
    return Net(run, conv=nn.Conv2d(2, 4, 1)), (torch.randn(1, 2, 6, 7), torch.zeros(1, 6, 7, 3, dtype=torch.int64))


def grey_picture() -> Built:
    """x[2,1,9,9] ─ Conv 3→4 ✗."""
    return Net(lambda s, x: s.conv(x).mean((2, 3)), conv=nn.Conv2d(3, 4, 3)), (torch.randn(2, 1, 9, 9),)


def norm_over_regions() -> Built:
    """x[2,9,16] ─ BatchNorm1d(16) ✗ looks at the 9 regions ─ fc."""
    return Net(lambda s, x: s.fc(s.norm(x)), norm=nn.BatchNorm1d(16), fc=nn.Linear(16, 3)), (torch.randn(2, 9, 16),)


def recurrent_in_sequence() -> Built:
    """LSTM ─ fc ✗ gets the LSTM's output and its states."""
    return nn.Sequential(nn.LSTM(5, 8, batch_first=True), nn.Linear(8, 2)), (torch.randn(2, 6, 5),)


def view_of_other_side() -> Built:
    """x[4,60].view(4, 6, 7) ✗."""
    return Net(lambda s, x: x.view(4, 6, 7)), (torch.randn(4, 60),)


def one_class_token() -> Built:
    """cat of token[1,1,8] and x[4,5,8] along axis 1 ✗."""
    run = lambda s, x: torch.cat([s.token, x], dim=1)  # noqa: E731
    return Net(run, token=nn.Parameter(torch.zeros(1, 1, 8))), (torch.randn(4, 5, 8),)


def view_of_turned() -> Built:
    """x.transpose(1, 2).view(…) ✗: the memory isn't in that order."""
    return Net(lambda s, x: x.transpose(1, 2).view(2, -1)), (torch.randn(2, 5, 8),)


def odd_maps() -> Built:
    """cat of maps of sides 9 and 8 ✗."""
    run = lambda s, x: torch.cat([x, F.interpolate(F.max_pool2d(x, 2), scale_factor=2)], 1)  # noqa: E731
    return Net(run), (torch.randn(1, 3, 9, 9),)


def wrong_axis() -> Built:
    """x[4,6,9].transpose(0, 2) ─ fc 6 ✗: (1, 2) was meant."""
    return Net(lambda s, x: s.fc(x.transpose(0, 2)), fc=nn.Linear(6, 2)), (torch.randn(4, 6, 9),)


def labels_of_another_batch() -> Built:
    """Scores[4,3] against 6 labels ✗."""
    return Net(lambda s, x, y: F.cross_entropy(s.fc(x), y), fc=nn.Linear(6, 3)), (torch.randn(4, 6), torch.zeros(6, dtype=torch.int64))


def written_in_half() -> Built:
    """bfloat16 rows are written into a float32 table through a mask ✗."""

    def run(s: Any, x: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(5, 4)
        table[x[:, 0] > -9.0] = x.to(torch.bfloat16)
        return table

    return Net(run), (torch.randn(5, 4),)


def flat_picture() -> Built:
    """x[2,108] ─ Conv2d 3→4 ✗: pictures of 3·6·6, flattened."""
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1)), (torch.randn(2, 108),)


def short_factor() -> Built:
    """a[3,5] @ b[6,2] ✗: one feature was lost on the way."""
    return Net(lambda s, a, b: a @ b), (torch.randn(3, 5), torch.randn(6, 2))


def short_beside_stretched() -> Built:
    """a[4,1,3] * b[4,5,2] ✗: axis 1 stretches, axis 2 lacks one."""
    return Net(lambda s, a, b: a * b), (torch.randn(4, 1, 3), torch.randn(4, 5, 2))


FORMS = (
    Form({"module": None, "arg": None}, wide_head, two_clips),
    Form({"module": None, "attr": None}, configured_batch, chained),
    Form({"module": None, "to": "float64"}, doubles, chained),
    Form({"module": None, "param": None}, other_statistics, chained),
    Form({"input": None, "op": "unsqueeze"}, unbatched_picture, chained),
    Form({"input": None, "op": "squeeze"}, axis_too_many, chained),
    Form({"input": None, "op": "argmax"}, one_hot_labels, chained),
    Form({"input": None, "op": "transpose"}, features_second, chained),
    Form({"input": None, "op": "flatten"}, batched_twice, chained),
    Form({"input": None, "op": "permute"}, channels_last, chained),
    Form({"input": None, "op": "reshape"}, flat_mask, chained),
    Form({"input": None, "op": "reshape"}, flat_picture, grey_picture),
    Form({"input": None, "op": "select"}, coloured_mask, chained),
    Form({"input": None, "op": "narrow"}, labels_of_another_batch, chained),
    Form({"input": None, "op": "repeat_interleave"}, grey_picture, chained),
    Form({"input": None, "op": "interpolate"}, drawn_for_larger, chained),
    Form({"input": None, "op": "to"}, doubles, chained),
    Form({"insert": "flatten", "before": None}, forgot_flatten, doubles),
    Form({"insert": "transpose", "before": None}, norm_over_regions, doubles),
    Form({"insert": "transpose", "after": None}, norm_over_regions, doubles),
    Form({"insert": "item", "before": None}, recurrent_in_sequence, doubles),
    Form({"call": "transpose", "argument": None}, wrong_axis, view_of_turned),
    Form({"call": "sum", "argument": "keepdim"}, lost_axis, two_clips),
    Form({"call": "view", "arguments": None}, view_of_other_side, view_of_turned),
    Form({"call": "add", "operand": None, "op": "pad"}, two_clips, labels_from_one),
    Form({"call": "add", "operand": None, "op": "interpolate"}, two_clips, labels_from_one),
    Form({"call": "cat", "operand": None, "op": "expand"}, one_class_token, two_clips),
    Form({"call": "cat", "operand": None, "op": "pad"}, odd_maps, one_class_token),
    Form({"call": "view", "operand": None, "op": "contiguous"}, view_of_turned, view_of_other_side),
    Form({"call": "cross_entropy", "operand": None, "op": "narrow"}, labels_of_another_batch, one_hot_labels),
    Form({"call": "matmul", "operand": None, "op": "narrow"}, short_factor, two_clips),
    Form({"call": "mul", "operand": None, "op": "pad"}, short_beside_stretched, two_clips),
    Form({"call": "__setitem__", "operand": None, "op": "to"}, written_in_half, doubles),
)
