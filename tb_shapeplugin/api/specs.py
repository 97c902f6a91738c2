"""spec: stands for a tensor that nobody has to make."""

from tb_shapeplugin.tracing.inputs import spec

__all__ = ["spec"]
