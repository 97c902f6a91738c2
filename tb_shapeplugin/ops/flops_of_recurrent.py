"""FLOPs of fused recurrent layers: each step multiplies its input and its state by their weights."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.flops import FORMULAS, Arguments, multiply_accumulates
from tb_shapeplugin.record.values import Shape


@FORMULAS.register("aten.mkldnn_rnn_layer")
def layer(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """One direction of one layer of an LSTM.

    Args: the input [time, batch, features], weights of input [4·hidden, features] and state [4·hidden, hidden], ….

    Example:
        >>> layer([(7, 1, 4), (32, 4), (32, 8)], [])
        5376
    """
    return _steps_times_weights(args)


@FORMULAS.register("aten.mkldnn_rnn_layer_backward")
def layer_backward(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """Twice the layer: gradients of input and state, and of their weights.

    Example:
        >>> layer_backward([(7, 1, 4), (32, 4), (32, 8)], [])
        10752
    """
    return 2 * _steps_times_weights(args)


def _steps_times_weights(args: Arguments) -> int:
    return multiply_accumulates(prod(args[0][:-1]), prod(args[1]) + prod(args[2]))


@FORMULAS.register("aten._cudnn_rnn", "aten.miopen_rnn")
def layers(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """All layers and directions at once: each matrix among the weights is used once a step.

    Args: the input, packed [steps, features] or [time, batch, features], and the list of weights. None where weights aren't apart.

    Example:
        >>> layers([(7, 1, 4), [(32, 4), (32, 8), (32,), (32,)]], [])
        5376
    """
    matrices = [prod(weight) for weight in args[1] if len(weight) == 2]
    return multiply_accumulates(prod(args[0][:-1]), sum(matrices)) if matrices else None


@FORMULAS.register("aten._cudnn_rnn_backward", "aten.miopen_rnn_backward")
def layers_backward(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """Twice the layers.

    Example:
        >>> layers_backward([(7, 1, 4), [(32, 4), (32, 8), (32,), (32,)]], [])
        10752
    """
    forward = layers(args, ())
    return None if forward is None else 2 * forward


@FORMULAS.register("aten.lstm", "aten.gru", "aten.rnn_tanh", "aten.rnn_relu")
def whole_layers(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """All layers and directions, before a kernel is chosen, as inference mode hears of them.

    Args: the input, of packed sequences their sizes of batches, the states of three axes, the list of weights.

    Example:
        >>> whole_layers([(7, 2, 4), (1, 2, 8), [(24, 4), (24, 8), (24,), (24,)]], [])
        8064
    """
    weights = next(argument for argument in args if isinstance(argument, list) and any(len(shape) == 2 for shape in argument))
    return layers([args[0], weights], ())


@FORMULAS.register("aten.lstm_cell", "aten.gru_cell", "aten.rnn_tanh_cell", "aten.rnn_relu_cell")
def cell(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """One step.

    Args: the input [batch, features], the state or states, weights of input and state, ….

    Example:
        >>> cell([(2, 4), (2, 8), (24, 4), (24, 8)], [])
        1152
    """
    return multiply_accumulates(prod(args[0][:-1]), prod(args[2]) + prod(args[3]))
