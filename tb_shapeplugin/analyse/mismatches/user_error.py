"""user_error: the model's own code raised, asserted, or slipped: a KeyError, an attribute of None, a division by zero."""

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "user_error"
_RAISE, _ERROR, _UNPACK = "python.raise", "python.error", "python.unpack"
_ENDLESS = "RecursionError"  # the code calls itself without an end; in whose function the stack ran full is chance


def is_own_raise(failure: Failure) -> bool:
    """Did a raise or an assert of the user's own code end it?"""
    return failure.call.name == _RAISE


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation in the words of the code that raised; asked last, as a slip may be a mismatch.

    Of a RuntimeError that no statement of the user raised, nobody knows whose it is.
    """
    if is_own_raise(failure):
        return _in_its_words(failure, trace, f"the code itself raised {failure.error}")
    slipped = failure.call.name == _ERROR or (failure.call.name == _UNPACK and clash is None) or failure.error == _ENDLESS
    return _in_its_words(failure, trace, f"the code met {failure.error}") if slipped and failure.error != "RuntimeError" else None


def _in_its_words(failure: Failure, trace: Trace, words: str) -> Explanation:
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    words += f": {first_line(failure)}" if failure.message.strip() else ""
    explained = said(KIND, failure, trace, words)
    return explained if path else Explanation(KIND, words, types=explained.types)
