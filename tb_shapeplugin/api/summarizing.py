"""summary: captures a model and prints the table of its layers."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.api.capturing import capture, refuse_unknown_options


def summary(
    model: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    file: TextIO | None = None,
    depth: int | None = None,
    columns: Sequence[str] | None = None,
    **capture_options: Any,
) -> Capture:
    """Prints the model's layers in execution order with their types, parameters and bytes; on failure, the diagnosis.

    Args:
        model: an nn.Module or any callable.
        args: as for ``capture``.
        kwargs: as for ``capture``.
        file: where to print, standard output by default.
        depth: deepest level of the module tree that is printed, all by default.
        columns: which columns, and in which order.
        **capture_options: every option of ``capture``.

    Raises:
        ShapesError: as for ``capture``, and for a column that doesn't exist.

    Example:
        >>> import torch, tb_shapeplugin as shapes
        >>> captured = shapes.summary(torch.nn.Linear(4, 2), torch.ones(3, 4))  # doctest: +SKIP
    """
    refuse_unknown_options(capture_options)
    captured = capture(model, args, kwargs, **capture_options)
    print(captured.table(depth=depth, columns=columns), file=file or sys.stdout)
    return captured
