"""/status: what an empty tab tells."""

from tensorboard.version import VERSION as TENSORBOARD_VERSION
from werkzeug.wrappers import Request, Response

from tb_shapeplugin.base.names import RECORD_DRAFT, VERSION
from tb_shapeplugin.serve.answers import json_answer
from tb_shapeplugin.serve.backend import Backend


def status(request: Request, backend: Backend) -> Response:
    """Which runs there are and what is in them, where TensorBoard looks, and which versions answer."""
    plugins = backend.runs(request).plugins_by_run()
    told = {
        "runs": [{"run": run, "plugins": names} for run, names in plugins.items()],
        "logdir": backend.logdir,
        "tensorboard": TENSORBOARD_VERSION,
        "loader": backend.loader,
        "shapes": VERSION,
        "draft": RECORD_DRAFT,
    }
    return json_answer(request, told)
