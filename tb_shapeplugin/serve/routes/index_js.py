"""/index.js: the module that TensorBoard imports into the tab's page."""

from werkzeug.wrappers import Request, Response

from tb_shapeplugin.serve.answers import file_answer
from tb_shapeplugin.serve.backend import Backend

# What a checkout without a built frontend shows, in the page rather than in a console.
_NOT_BUILT = b"""export function render() {
  document.body.textContent =
    'The frontend of Shapes is not built here. Run "make frontend" in the checkout, then start TensorBoard again.';
}
"""


def index_js(request: Request, backend: Backend) -> Response:
    """The built module, or one that says how to build it."""
    data, content_type = backend.assets.read("index.js") or (_NOT_BUILT, "text/javascript")
    return file_answer(request, data, content_type)
