"""/static/<name>: the other files of the built frontend."""

from werkzeug.wrappers import Request, Response

from tb_shapeplugin.read.runs import NothingThere
from tb_shapeplugin.serve.answers import file_answer
from tb_shapeplugin.serve.backend import Backend


def static_file(request: Request, backend: Backend) -> Response:
    """A file of the list; anything else, whatever its form, is not there."""
    name = request.path.partition("/static/")[2]
    found = backend.assets.read(name)
    if found is None:
        raise NothingThere(f"There is no file {name!r} in this build of the frontend. Reload the page.")
    return file_answer(request, *found)
