"""What no real logdir brings about: handlers that break, a frontend that isn't built, TensorBoard's own errors."""

from pathlib import Path
from typing import Any

import pytest
from tensorboard import errors
from tensorboard.plugins import base_plugin
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from tb_shapeplugin.serve.answers import application
from tb_shapeplugin.serve.assets import Assets
from tb_shapeplugin.serve.backend import Backend
from tb_shapeplugin.serve.plugin import ROUTES, ShapesPlugin
from tb_shapeplugin.serve.routes.index_js import index_js
from tb_shapeplugin.serve.routes.static_file import static_file

API = Path(__file__).parent.parent.parent / "tb_shapeplugin/serve/http_api.md"


def backend_of(folder: Path) -> Backend:
    """A backend that serves a folder as its frontend."""
    return Backend(data_provider=None, logdir="", loader="fast", assets=Assets.of(folder))


def ask(handler: Any, path: str = "/", folder: Path = Path("nowhere"), **options: Any) -> Any:
    """The answer of one handler."""
    return Client(application(handler, backend_of(folder))).get(path, **options)


def raising(error: Exception) -> Any:
    """A handler that raises it."""

    def handler(request: Request, backend: Backend) -> Response:
        raise error

    return handler


def test_a_fault_of_ours_is_logged_and_said_without_a_500(caplog: pytest.LogCaptureFixture) -> None:
    """The tab gets a sentence, the log the traceback; what the exception says stays in the log."""
    answer = ask(raising(KeyError("secret")), "/models?x=1")
    assert answer.status_code == 422
    assert answer.json == {"error": "Shapes stumbled over this data: KeyError. TensorBoard's log says where."}
    assert "/models?x=1" in caplog.text and "secret" in caplog.text


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.NotFoundError("run"), 404),
        (errors.InvalidArgumentError("key"), 400),
        (errors.PermissionDeniedError("no"), 403),
        (errors.PublicError("broken"), 422),
    ],
    ids=lambda value: str(value)[:20],
)
def test_tensorboards_errors_keep_their_status_in_our_form(error: Exception, status: int) -> None:
    """JSON, which the tab reads, rather than text; and nothing above 499."""
    answer = ask(raising(error))
    assert answer.status_code == status
    assert answer.json == {"error": f"TensorBoard says: {error}"}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_frontend_that_is_not_built_says_how(tmp_path: Path) -> None:
    """A module that TensorBoard can import and that writes into the page."""
    answer = ask(index_js, folder=tmp_path)
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/javascript")
    assert "export function render()" in answer.text and "make frontend" in answer.text


def test_files_are_served_by_a_list_that_is_made_at_the_start(tmp_path: Path) -> None:
    """What was there when TensorBoard started, of a known type, below the folder; a rebuilt file is read anew."""
    (tmp_path / "fonts").mkdir()
    for name, text in {
        "index.js": "a",
        "style.css": "b",
        "index.js.map": "{}",
        "fonts/x.woff2": "f",
        "secret.py": "s",
        ".env": "s",
    }.items():
        (tmp_path / name).write_text(text)
    client = Client(application(static_file, backend_of(tmp_path)))
    (tmp_path / "late.js").write_text("late")
    served = {name: client.get(f"/data/plugin/shapes/static/{name}") for name in ("style.css", "index.js.map", "fonts/x.woff2")}
    assert [answer.status_code for answer in served.values()] == [200] * 3
    assert [answer.content_type.partition(";")[0] for answer in served.values()] == ["text/css", "application/json", "font/woff2"]
    for name in ("secret.py", ".env", "late.js", "fonts", "", "../static/style.css", str(tmp_path / "style.css")):
        assert client.get(f"/data/plugin/shapes/static/{name}").status_code == 404
    before = served["style.css"].headers["ETag"]
    (tmp_path / "style.css").write_text("c")
    assert client.get("/static/style.css", headers={"If-None-Match": before}).text == "c"
    (tmp_path / "style.css").unlink()
    assert client.get("/static/style.css").status_code == 404


def test_every_route_has_its_paragraph_and_its_file() -> None:
    """http_api.md is what the frontend is written against."""
    if not API.exists():
        pytest.skip("an installed package has no http_api.md")
    for path, handler in ROUTES.items():
        assert f"`{path.replace('*', '<name>')}" in API.read_text(encoding="utf-8")
        assert handler.__module__ == f"tb_shapeplugin.serve.routes.{handler.__name__}"


def test_the_plugin_is_what_tensorboard_expects() -> None:
    """A name, a module that is one of the routes, and no question about runs at each page load."""
    context = base_plugin.TBContext(data_provider=None, logdir="runs", multiplexer=None)
    plugin = ShapesPlugin(context)
    assert plugin.plugin_name == "shapes"
    assert plugin.is_active() is False
    assert plugin.frontend_metadata().es_module_path in plugin.get_plugin_apps()
    assert plugin.frontend_metadata().tab_name == "Shapes"
