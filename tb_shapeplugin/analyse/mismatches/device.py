"""device: operands on different devices, or on one that isn't here."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.ops.dtypes_and_devices import device_clash
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "device"
_SAID = re.compile(r"same device|on the same device|at least two devices|is not on the expected device|Expected .* device|device type of")
_MISSING = re.compile(
    r"not compiled with (\w+) enabled|not linked with support for (\w+) devices|from the '(\w+)' backend|No (\w+) GPUs are available"
    r"|Found no NVIDIA driver"
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands' devices, else by torch's words."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if found := _MISSING.search(failure.message):
        name = next((word.lower() for word in found.groups() if word), "cuda")
        return said(KIND, failure, trace, f"it asks for a {name} device, there is none here", {"devices": 0}, {"devices": 1})
    if not _SAID.search(failure.message):
        return None
    by_operands = device_clash(failure.call)
    if by_operands is not None:
        return told(failure, by_operands, trace)
    devices = list(dict.fromkeys(re.findall(r"\b(?:cuda|xpu|mps)(?::\d+)?\b|\bcpu\b|\bmeta\b", failure.message)))
    count = max(len(devices), 2)
    words = f"its operands are on {count} devices{', ' if devices else ''}{' and '.join(devices)}, they have to be on 1"
    return said(KIND, failure, trace, words, {"devices": count}, {"devices": 1})
