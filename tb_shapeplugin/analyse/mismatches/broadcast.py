"""broadcast: operands of an elementwise op, an expand or an in-place op don't broadcast."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import of_kind_or_said

KIND = "broadcast"
_SAID = (
    re.compile(r"size of tensor a \((?P<got>\d+)\) must match the size of tensor b \((?P<want>\d+)\)"),
    re.compile(r"same size in the mapped dimension, got sizes \[(?P<want>\d+), (?P<got>\d+)"),
    re.compile(r"expanded size of the tensor \((?P<want>\d+)\) must match the existing size \((?P<got>\d+)\)"),
)

explain = of_kind_or_said(KIND, _SAID, "size", "{got} meets {want}, and neither is 1")
