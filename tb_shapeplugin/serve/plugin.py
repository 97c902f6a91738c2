"""The plugin as TensorBoard sees it: a name, a tab, a table of routes."""

from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.plugins import base_plugin

from tb_shapeplugin.base.names import PLUGIN_NAME, TAB_NAME
from tb_shapeplugin.serve.answers import Handler, application
from tb_shapeplugin.serve.backend import Backend
from tb_shapeplugin.serve.routes.index_js import index_js
from tb_shapeplugin.serve.routes.models import models
from tb_shapeplugin.serve.routes.record import record
from tb_shapeplugin.serve.routes.static_file import static_file
from tb_shapeplugin.serve.routes.status import status

ROUTES: Mapping[str, Handler] = {
    "/index.js": index_js,
    "/static/*": static_file,
    "/models": models,
    "/record": record,
    "/status": status,
}


class ShapesPlugin(base_plugin.TBPlugin):  # type: ignore[misc]  # TensorBoard ships no types
    """The tab Shapes. Stateless: what it answers is asked of TensorBoard's data provider each time."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: Any) -> None:
        self._backend = Backend.of(context)

    def get_plugin_apps(self) -> dict[str, Callable[..., Any]]:
        """Every route as a WSGI application."""
        return {path: application(handler, self._backend) for path, handler in ROUTES.items()}

    def is_active(self) -> bool:
        """False: TensorBoard asks only where no run has data of ours, and then the tab is inactive."""
        return False

    def frontend_metadata(self) -> Any:
        """The module that draws the tab, and the tab's name."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=TAB_NAME)
