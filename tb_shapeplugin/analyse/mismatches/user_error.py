"""user_error: the model's own code raised or asserted."""

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "user_error"
_RAISE = "python.raise"


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation in the words of the code that raised."""
    if failure.call.name != _RAISE:
        return None
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    words = f"the code itself raised {failure.error}" + (f": {first_line(failure)}" if failure.message.strip() else "")
    explained = said(KIND, failure, trace, words)
    return explained if path else Explanation(KIND, words, types=explained.types)
