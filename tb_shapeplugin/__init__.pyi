from tb_shapeplugin.api.captures import Capture as Capture
from tb_shapeplugin.api.capturing import capture as capture
from tb_shapeplugin.api.guarding import guard as guard
from tb_shapeplugin.api.loading import load as load
from tb_shapeplugin.api.logging_models import ShapeWriter as ShapeWriter
from tb_shapeplugin.api.logging_models import add_shapes as add_shapes
from tb_shapeplugin.api.specs import spec as spec
from tb_shapeplugin.api.summarizing import summary as summary
from tb_shapeplugin.base.errors import ShapesError as ShapesError

__all__ = ["capture", "summary", "add_shapes", "ShapeWriter", "guard", "spec", "load", "Capture", "ShapesError", "__version__"]

__version__: str
