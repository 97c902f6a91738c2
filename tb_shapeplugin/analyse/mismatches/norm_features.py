"""norm_features: a normalisation sees another number of features than it was declared for."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import of_kind_or_said

KIND = "norm_features"
_SAID = (
    re.compile(r"(?:running_mean|running_var|weight|bias) should contain (?P<got>\d+) elements not (?P<want>\d+)"),
    re.compile(r"to match num_features \((?P<want>\d+)\), but got: (?P<got>\d+)"),
)

explain = of_kind_or_said(KIND, _SAID, "features", "its input holds {got} features, it takes {want}")
