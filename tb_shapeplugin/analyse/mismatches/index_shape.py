"""index_shape: an index of gather, scatter or brackets has another shape than its source."""

from tb_shapeplugin.analyse.mismatches.explanation import of_kind

KIND = "index_shape"
explain = of_kind(KIND)
