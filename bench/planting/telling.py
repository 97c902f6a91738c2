"""Tells what is wrong with the diagnosis of a plant, so that somebody can mend it."""

from collections.abc import Iterator

from planting.drawing import Plant
from planting.judging import Verdict
from tb_shapeplugin.report.four_lines import four_lines

SLOW_S = 10  # of CPU: a diagnosis that takes longer is told of
_LONGEST = 150  # characters of a message


def complaints(plant: Plant, verdict: Verdict) -> Iterator[str]:
    """One line for each thing that isn't as it should be."""
    for planted, found, fixed in zip(plant.faults, verdict.found, verdict.fixed, strict=True):
        if not fixed:
            yield f"{'no fix' if found else 'found nothing'} of {planted.fault}: {planted.truth}"
    for finding in verdict.spurious:
        yield f"spurious {finding.kind} at {finding.module or 'root'} {finding.file}:{finding.line}: {finding.message[:_LONGEST]}"
    for said in verdict.broken:
        yield f"broken {said}"
    if verdict.repeated:
        yield f"told more than once: {', '.join(f'{finding.kind} at {finding.module}' for finding in verdict.errors)}"
    if verdict.raised:
        yield f"raised {verdict.raised}"
    elif not verdict.errors:
        yield f"silent; unchecked: {'; '.join(verdict.unchecked)}"
    if verdict.seconds > SLOW_S:
        yield "slow"


def told(name: str, plant: Plant, verdict: Verdict, *, whole: bool) -> str:
    """The plant with its complaints, "" where there are none; ``whole`` adds where plain PyTorch raises, and all findings."""
    lines = list(complaints(plant, verdict))
    if not lines and not whole:
        return ""
    head = [f"{name} {plant.subject} ({verdict.runs} runs, {verdict.seconds:.2f} s)"]
    faults = [f"    planted {planted.fault}" for planted in plant.faults]
    truths = [f"    truth   {planted.truth}" for planted in plant.faults if whole]
    said = [f"    {line}" for finding in verdict.errors if whole for line in four_lines(finding).splitlines()]
    return "\n".join([*head, *faults, *truths, *(f"  ! {line}" for line in lines), *said])
