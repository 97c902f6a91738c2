"""opaque: a failure that no kind explains, told in the exception's own words."""

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "opaque"


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation:
    """Never None: what is left when every other kind has passed."""
    return said(KIND, failure, trace, f"{failure.error}: {first_line(failure)}" if failure.message.strip() else failure.error)
