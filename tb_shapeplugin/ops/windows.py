"""The arithmetic of sliding windows, shared by convolutions and pools."""

from tb_shapeplugin.ops.reading import Unreadable
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import Operand, Shape


def window_count(size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil: bool = False) -> int:
    """How many windows fit: ⌊(size + 2·padding − dilation·(kernel − 1) − 1) / stride⌋ + 1; may be 0 or less.

    A stride below 1 is Unreadable.

    Example:
        >>> window_count(28, kernel=5, stride=1, padding=0), window_count(5, kernel=2, stride=2, padding=0, ceil=True)
        (24, 3)
    """
    if stride < 1:
        raise Unreadable(f"a stride of {stride}")
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + padding:  # the last window has to start inside the map
        count -= 1
    return count


def transposed_size(size: int, kernel: int, stride: int, padding: int, output_padding: int = 0, dilation: int = 1) -> int:
    """The size that a transposed convolution gives.

    Example:
        >>> transposed_size(5, kernel=2, stride=2, padding=0)
        10
    """
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1


def too_small(
    x: Operand,
    first: int,
    kernel: Shape,
    padding: Shape,
    dilation: Shape,
    what: str = "kernel",
    slack: Shape | None = None,
) -> Clash | None:
    """The clash of a map that is smaller, padding included, than the kernel.

    Args:
        x: the map.
        first: its first spatial dim.
        kernel: the kernel's sides, one for each spatial dim, as are the following.
        padding: on either side.
        dilation: between the kernel's entries.
        what: the kernel's name.
        slack: how far the kernel may stand out of the map, plus one; 1 for most ops.

    Example:
        >>> too_small(Operand(0, (1, 3, 4), "float32"), 2, (5,), (0,), (1,)).want
        {'min_size': 5}
    """
    for at, (k, p, d) in enumerate(zip(kernel, padding, dilation, strict=True)):
        dim = first + at
        if dim >= x.ndim:
            return None
        size, extent = x.shape[dim] + 2 * p, d * (k - 1) + 2 - (slack[at] if slack else 1)
        if size < extent:
            padded = f", {size} with its padding" if p else ""
            words = f"dim {dim} of its input is {x.shape[dim]}{padded}, the {what} covers {extent}"
            return Clash("conv_kernel", {"size": size}, {"min_size": extent}, operand=x.id, dim=dim, words=words)
    return None
