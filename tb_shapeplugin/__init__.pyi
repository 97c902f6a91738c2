from tb_shapeplugin.api.captures import Capture as Capture
from tb_shapeplugin.api.capturing import capture as capture
from tb_shapeplugin.api.specs import spec as spec
from tb_shapeplugin.api.summarizing import summary as summary
from tb_shapeplugin.base.errors import ShapesError as ShapesError

__all__ = ["capture", "summary", "spec", "Capture", "ShapesError", "__version__"]

__version__: str
