"""Where a change of a tensor can be made: at the model's argument, before a module, or at the operand of a call."""

from collections.abc import Iterator

from tb_shapeplugin.fixes.adaptation import Adaptation
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.fixes.written_code import operand_text
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import Operand

EVERY_CALLER = "changes what every caller of the model passes"
_ORDINALS = {0: "the first operand", 1: "the second operand", 2: "the third operand"}
_NO_CALLS_OF_TORCH = ("python.", "torch.nn.utils.")  # a function mode hears of none by these names
_JOINING = ("cat", "concat", "stack")


def written(name: str, step: Adaptation) -> str:
    """The step as people would write it: ``x.permute(0, 3, 1, 2)``, ``mask[..., 0]``, ``F.pad(z, [0, 1])``."""
    if step.text.startswith("F."):
        return step.text.replace("(", f"({name}, ", 1)
    return name + (step.text if step.text.startswith("[") else f".{step.text}")


def shown_input(name: str | int) -> str:
    """What an argument of the model is called."""
    return name if isinstance(name, str) else f"args[{name}]"


def at_input(name: str | int, step: Adaptation, effort: float) -> Candidate:
    """The step on an argument of the model."""
    cost = "; ".join(filter(None, (EVERY_CALLER, step.cost)))
    return Candidate(Fix(written(shown_input(name), step), (step.of_input(name),), cost=cost), effort, reshapes=True)


def before_module(situation: Situation, step: Adaptation, effort: float) -> Candidate:
    """The step on the first argument of the failing module."""
    text = f"{called(situation.path)}({written('x', step)})"
    return Candidate(Fix(text, (step.before(situation.path),), cost=step.cost), effort, reshapes=True)


def at_operand(situation: Situation, operand: Operand, step: Adaptation, effort: float) -> Candidate | None:
    """The step on an operand of the failing call; None where the call is written in torch's own code, or the operand by name."""
    position = operand_position(situation, operand)
    asks = situation.call.short_name == "size"  # what is asked for goes on nowhere
    if position is None or situation.in_torchs_code or asks or situation.call.name.startswith(_NO_CALLS_OF_TORCH):
        return None
    change = situation.call_change(situation.op, operand=position, op=step.operation, **step.arguments)
    text = f"{written(shown(situation, operand), step)} in {situation.call.short_name}"
    return Candidate(Fix(text, (change,), cost=step.cost), effort, reshapes=True)


def operand_position(situation: Situation, operand: Operand) -> int | None:
    """At which position a call takes an operand, or a joining call in its list."""
    args = situation.call.args
    if situation.call.short_name in _JOINING and args and isinstance(args[0], tuple):
        args = args[0]
    return next((at for at, value in enumerate(args) if isinstance(value, Operand) and value.id == operand.id), None)


def shown(situation: Situation, operand: Operand) -> str:
    """What an operand is called: as the user wrote it, by its name, else by its place among the call's operands."""
    position = operand_position(situation, operand)
    if position is None:
        return operand.name or "x"
    as_written = operand_text(situation.finding.code, situation.call.short_name, position)
    return as_written or operand.name or _ORDINALS.get(position, "an operand")


def on_the_way(situation: Situation, operand: Operand, step: Adaptation, effort: float) -> Iterator[Candidate]:
    """The step on an operand behind the model's arguments: before the module that takes it first, else at the call itself."""
    call = situation.module_call
    if situation.path and call is not None and call.parent >= 0 and call.inputs[:1] == (operand.id,):
        yield before_module(situation, step, effort)
    elif (candidate := at_operand(situation, operand, step, effort)) is not None:
        yield candidate
