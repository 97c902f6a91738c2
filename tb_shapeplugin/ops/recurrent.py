"""Rules of recurrent layers and of packing; the layers check their inputs in Python, under their module's name."""

from collections.abc import Mapping

from tb_shapeplugin.ops.reading import Unreadable, axes_text, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Value

_STATE_WORDS = ("layers", "batch", "hidden")


def _number(call: OpCall, name: str) -> int:
    value = call.kwargs.get(name)
    if not isinstance(value, int):
        raise Unreadable(f"{call.name} without {name}")
    return int(value)


def _size_clash(x: Operand, want: int) -> Clash | None:
    got = x.shape[-1]
    if got == want:
        return None
    words = f"the last dim of its input {x} is {got}, input_size is {want}"
    return Clash("rnn_input", {"input_size": got}, {"input_size": want}, operand=x.id, dim=x.ndim - 1, words=words)


def _layer_requires(call: OpCall) -> Clash | None:
    """The module's attributes come as keyword arguments, see ``rules.of_module``."""
    x = tensor(call, 0, "input")
    if x.ndim not in (2, 3):
        return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes 3, or 2 without a batch")
    return _size_clash(x, _number(call, "input_size")) or _state_clash(call, x)


def _state_clash(call: OpCall, x: Operand) -> Clash | None:
    state = call.get(1, "hx")
    if isinstance(state, Operand) and call.short_name == "LSTM":
        words = f"its state is 1 tensor {state}, it takes 2, hidden and cell state: (h, c)"
        return Clash("rnn_state", {"states": 1}, {"states": 2}, operand=state.id, words=words)
    states = state if isinstance(state, tuple) else (state,)
    layers = _number(call, "num_layers") * (2 if call.kwargs.get("bidirectional") is True else 1)
    projected = call.kwargs.get("proj_size") or call.kwargs.get("hidden_size")
    batch = (x.shape[0 if call.kwargs.get("batch_first") is True else 1],) if x.ndim == 3 else ()
    for item, hidden in zip(states, (projected, call.kwargs.get("hidden_size")), strict=False):
        if isinstance(item, Operand) and isinstance(hidden, int) and (clash := state_clash(item, (layers, *batch, hidden))):
            return clash
    return None


def state_clash(state: Operand, want: tuple[int, ...]) -> Clash | None:
    """The clash of an initial state whose layers, batch or hidden size aren't the wanted ones; all that differ are told."""
    words = _STATE_WORDS if len(want) == 3 else (_STATE_WORDS[0], _STATE_WORDS[2])
    if state.ndim != len(want):
        told = f"its state {state} has {axes_text(state.ndim)}, it takes {len(want)} ({', '.join(words)})"
        return Clash("rnn_state", {"ndim": state.ndim}, {"ndim": len(want)}, operand=state.id, words=told)
    wrong = [dim for dim in range(len(want)) if state.shape[dim] != want[dim]]
    if not wrong:
        return None
    pairs = ", ".join(f"{words[dim]} is {state.shape[dim]} and should be {want[dim]}" for dim in wrong)
    got, need = {words[dim]: state.shape[dim] for dim in wrong}, {words[dim]: want[dim] for dim in wrong}
    return Clash("rnn_state", got, need, operand=state.id, dim=wrong[0], words=f"its state {state} doesn't fit: {pairs}")


def _cell_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    if x.ndim not in (1, 2):
        return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes 2, or 1 without a batch")
    if clash := _size_clash(x, _number(call, "input_size")):
        return clash
    state = call.get(1, "hx")
    hidden = _number(call, "hidden_size")
    for item in state if isinstance(state, tuple) else (state,):
        if isinstance(item, Operand) and item.ndim == 2 and item.shape != (*x.shape[:-1], hidden):
            return _cell_state(item, (*x.shape[:-1], hidden))
    return None


def _cell_state(state: Operand, want: tuple[int, ...]) -> Clash | None:
    for dim, word in enumerate(_STATE_WORDS[-len(want) :]):
        if state.shape[dim] != want[dim]:
            words = f"{word} of its state {state} is {state.shape[dim]}, it should be {want[dim]}"
            return Clash("rnn_state", {word: state.shape[dim]}, {word: want[dim]}, operand=state.id, dim=dim, words=words)
    return None


def _states_of(call: OpCall) -> tuple[Operand, ...]:
    state = call.get(1, "hx")
    return tuple(item for item in (state if isinstance(state, tuple) else (state,)) if isinstance(item, Operand))


def _step_requires(call: OpCall) -> Clash | None:
    """One step as a function: input[batch, input_size], states[batch, hidden], and the two weights."""
    x, weight, recurrent = tensor(call, 0, "input"), tensor(call, 2, "w_ih"), tensor(call, 3, "w_hh")
    if x.ndim != 2 or weight.ndim != 2 or recurrent.ndim != 2:
        return rank(x, 2) if x.ndim != 2 else None
    if clash := _size_clash(x, weight.shape[1]):
        return clash
    want = (x.shape[0], recurrent.shape[1])
    states = [state for state in _states_of(call) if state.shape != want]
    return _cell_state(states[0], want) if states and states[0].ndim == 2 else None


def _step_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, recurrent = tensor(call, 0, "input"), tensor(call, 3, "w_hh")
    return (((x.shape[0], recurrent.shape[-1]),) * max(1, len(_states_of(call))),)


def _pack_requires(call: OpCall) -> Clash | None:
    x, lengths = tensor(call, 0, "input"), call.get(1, "lengths")
    count = lengths.numel if isinstance(lengths, Operand) else len(lengths) if isinstance(lengths, tuple) else None
    batch_dim = 0 if call.get(2, "batch_first", False) is True else 1
    if x.ndim <= batch_dim:
        return rank(x, 2)
    if isinstance(lengths, Operand) and lengths.ndim != 1:
        return rank(lengths, 1, f"the lengths {lengths} have {axes_text(lengths.ndim)}, they take 1")
    if count is None or count == x.shape[batch_dim]:
        return None
    words = f"there are {count} lengths for a batch of {x.shape[batch_dim]} in {x}"
    operand = lengths.id if isinstance(lengths, Operand) else -1
    return Clash("seq_lengths", {"lengths": count}, {"batch": x.shape[batch_dim]}, operand, 0, x.id, batch_dim, words)


def _weights(call: OpCall) -> tuple[Operand, ...]:
    """The flat weights of a kernel: the first tuple of matrices after the input; a packed one has batch sizes and states before."""
    for value in call.args[1:]:
        if isinstance(value, tuple) and value and all(isinstance(item, Operand) and item.kind == "parameter" for item in value):
            return tuple(item for item in value if isinstance(item, Operand))
    raise Unreadable(f"{call.name} without weights")


def _kernel_requires(call: OpCall) -> Clash | None:
    weight = _weights(call)[0]
    return _size_clash(tensor(call, 0, "input"), weight.shape[-1]) if weight.ndim == 2 else None


def _kernel_gives(call: OpCall) -> tuple[Outputs, ...]:
    """Output and last states; a packed sequence comes as its rows, with its batch sizes before the states, and names no batch_first."""
    x = tensor(call, 0, "input")
    if len(call.args) < 9:
        raise Unreadable(f"{call.name} with arguments by name")
    packed = isinstance(call.args[1], Operand) and call.args[1].ndim == 1
    states = call.args[2 if packed else 1]
    held = states if isinstance(states, tuple) else (states,)
    last = tuple(state.shape for state in held if isinstance(state, Operand))
    if not last:
        raise Unreadable(f"{call.name} without states")
    directions = 2 if call.args[8 if packed else 7] is True else 1
    return (((*x.shape[:-1], directions * last[0][-1]), *last),)


def with_attributes(call: OpCall, attributes: Mapping[str, int | str | bool | tuple[int, ...]]) -> OpCall:
    """A module's call with its plain attributes as keyword arguments; what the caller gave has precedence.

    Example:
        >>> with_attributes(OpCall("torch.nn.LSTM"), {"input_size": 8}).kwargs["input_size"]
        8
    """
    merged: dict[str, Value] = {**attributes, **call.kwargs}
    return OpCall(call.name, call.args, merged)


RULES.register("RNN", "LSTM", "GRU")(Rule(_layer_requires))
RULES.register("lstm", "gru", "rnn_tanh", "rnn_relu")(Rule(_kernel_requires, _kernel_gives))
RULES.register("RNNCell", "LSTMCell", "GRUCell")(Rule(_cell_requires))
RULES.register("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")(Rule(_step_requires, _step_gives))
RULES.register("pack_padded_sequence")(Rule(_pack_requires))
