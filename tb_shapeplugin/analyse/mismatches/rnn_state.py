"""rnn_state: the initial state has wrong layers, batch or hidden size, or swapped axes."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "rnn_state"
_SAID = re.compile(r"Expected hidden(?:\[\d\])? size \(([\d, ]*)\), got \[([\d, ]*)\]")
_CELL = re.compile(r"Input batch size (\d+) doesn't match hidden\d? batch size (\d+)")
_WORDS = ("layers", "batch", "hidden")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and state, else by torch's words; all dims that differ are told."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if found := _SAID.search(failure.message):
        want, got = ([int(size) for size in re.findall(r"\d+", group)] for group in found.groups())
        words = _WORDS if len(want) == 3 else ("layers", "hidden")
        wrong = [(word, a, b) for word, a, b in zip(words, got, want, strict=False) if a != b]
        if wrong:
            told_wrong = ", ".join(f"{word} is {a} and should be {b}" for word, a, b in wrong)
            got_want = {word: a for word, a, _ in wrong}, {word: b for word, _, b in wrong}
            return said(KIND, failure, trace, f"its state {got} doesn't fit: {told_wrong}", *got_want)
    if found := _CELL.search(failure.message):
        want_batch, batch = int(found[1]), int(found[2])
        words_ = f"its state's batch is {batch}, its input's is {want_batch}"
        return said(KIND, failure, trace, words_, {"batch": batch}, {"batch": want_batch})
    return None
