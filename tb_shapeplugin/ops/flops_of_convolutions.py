"""FLOPs of convolutions: each number of the result is a sum over the kernel and the input channels of its group."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.flops import FORMULAS, Arguments, multiply_accumulates
from tb_shapeplugin.record.values import Shape


def _once(of_input: Shape, weight: Shape, of_output: Shape, transposed: bool) -> int:
    """Weights are [out, in/groups, kernel…]; those of a transposed one, which spreads its input, are [in, out/groups, kernel…]."""
    return multiply_accumulates(prod(of_input if transposed else of_output), prod(weight[1:]))


@FORMULAS.register("aten.convolution", "aten._convolution", "aten.convolution_overrideable")
def convolution(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Of any number of axes, grouped, dilated or transposed.

    Args: input, weight, bias, stride, padding, dilation, transposed, output padding, groups.

    Example:
        >>> convolution([(2, 8, 10, 10), (16, 2, 3, 3), None, [1], [1], [1], False, [0], 4], [(2, 16, 10, 10)])
        115200
    """
    return _once(args[0], args[1], outputs[0], args[6])


@FORMULAS.register("aten.convolution_backward", "aten.convolution_backward_overrideable")
def convolution_backward(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """As much as the convolution for each of the gradients of input and weight that are asked for.

    Args: the output's gradient, input, weight, …, transposed, output padding, groups, and which gradients are asked for.

    Example:
        >>> convolution_backward([(1, 4, 8), (1, 3, 10), (4, 3, 3), None, [1], [0], [1], False, [0], 1, [True, True, True]], [])
        1152
    """
    transposed, wanted = args[-4], args[-1]
    return _once(args[1], args[2], args[0], transposed) * (bool(wanted[0]) + bool(wanted[1]))


@FORMULAS.register(
    *("aten.conv1d", "aten.conv2d", "aten.conv3d", "aten._convolution_mode", "aten.thnn_conv2d", "aten._slow_conv2d_forward"),
    *("aten.slow_conv3d", "aten.slow_conv3d_forward", "aten.slow_conv_dilated2d", "aten.slow_conv_dilated3d", "aten._conv_depthwise2d"),
    *("aten.conv_depthwise3d", "aten._nnpack_spatial_convolution", "aten.mkldnn_convolution", "mkldnn._convolution_pointwise"),
    *("aten.cudnn_convolution", "aten.cudnn_convolution_relu", "aten.cudnn_convolution_add_relu", "aten._mps_convolution"),
    *("aten.miopen_convolution", "aten.miopen_convolution_relu", "aten.miopen_convolution_add_relu", "aten.miopen_depthwise_convolution"),
    "torchvision.deform_conv2d",
)
def plain_convolution(args: Arguments, outputs: Sequence[Shape]) -> int:
    """By kernels that take input and weight first, and are never transposed.

    Example:
        >>> plain_convolution([(1, 3, 10), (4, 3, 3)], [(1, 4, 8)])
        576
    """
    return _once(args[0], args[1], outputs[0], False)


@FORMULAS.register(
    *(f"aten.{kind}{axes}d" for kind, least in (("conv_transpose", 1), ("slow_conv_transpose", 2)) for axes in range(least, 4)),
    *("aten.cudnn_convolution_transpose", "aten.miopen_convolution_transpose", "aten._mps_convolution_transpose"),
)
def transposed_convolution(args: Arguments, outputs: Sequence[Shape]) -> int:
    """By kernels that are always transposed.

    Example:
        >>> transposed_convolution([(1, 8, 10, 10), (8, 4, 2, 2)], [(1, 4, 20, 20)])
        25600
    """
    return _once(args[0], args[1], outputs[0], True)


@FORMULAS.register("aten.conv_tbc")
def time_first_convolution(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Over time, with weights [kernel, in, out].

    Example:
        >>> time_first_convolution([(10, 1, 3), (3, 3, 4)], [(8, 1, 4)])
        576
    """
    return multiply_accumulates(prod(outputs[0]), args[1][0], args[1][1])


@FORMULAS.register("aten.conv_tbc_backward")
def time_first_convolution_backward(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """As much as the convolution for each of the gradients of input and weight, whether they are wanted or not.

    Args: the output's gradient, input, weight, ….

    Example:
        >>> time_first_convolution_backward([(8, 1, 4), (10, 1, 3), (3, 3, 4)], [])
        1152
    """
    return 2 * multiply_accumulates(prod(args[0]), *args[2][:2])


@FORMULAS.register("aten._slow_conv2d_backward")
def plain_convolution_backward(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """As much as the convolution for each of the gradients that are asked for; None where they are written to outputs that are given.

    Args: the output's gradient, input, weight, …, and which gradients are asked for.

    Example:
        >>> plain_convolution_backward([(1, 4, 8, 8), (1, 3, 10, 10), (4, 3, 3, 3), [3, 3], [1, 1], [0, 0], [True, True, True]], [])
        27648
    """
    wanted = args[-1]
    return _once(args[1], args[2], args[0], False) * (bool(wanted[0]) + bool(wanted[1])) if isinstance(wanted[0], bool) else None
