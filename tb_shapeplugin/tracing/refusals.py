"""Writes down calls that torch would refuse and that are no torch functions: compiled modules, collectives."""

from types import FrameType

from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.recorder import Recorder


def written_refusal(recorder: Recorder, call: OpCall, error: Exception, frame: FrameType | None) -> Exception | None:
    """Writes down that the call is refused; gives the error where it has to be raised: nothing goes on past it, or the user handles it.

    Args:
        recorder: of the run.
        call: the refused call as the rules see it.
        error: what torch raises for it.
        frame: who calls.
    """
    source = recorder.sources.here(frame)
    inputs = list(dict.fromkeys(operand.id for operand in call.operands()))
    at = recorder.modules.current_call

    def write_down() -> None:
        recorder.fail(call, error, source, inputs, (), recorder.tensors.depends_on(inputs), None, at=at)

    if recorder.withholds(error, frame, recorder.site(call.name, source), write_down):
        return error
    write_down()
    return None if recorder.recovery is not None and recorder.recovery.go_on else error
