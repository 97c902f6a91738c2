"""TensorBoard's door: found at its start, so it imports nothing heavy and never raises."""

import logging
from typing import Any

from tensorboard.plugins import base_plugin

from tb_shapeplugin.base.names import PLUGIN_NAME, SAMPLES_PER_TAG


class ShapesLoader(base_plugin.TBLoader):  # type: ignore[misc]  # TensorBoard ships no types
    """The entry point of the group ``tensorboard_plugins``. An error raised here would keep TensorBoard from starting."""

    def fix_flags(self, flags: Any) -> None:
        """Keep more records of a tag than TensorBoard's ten, unless the user said how many."""
        samples = getattr(flags, "samples_per_plugin", None)
        if isinstance(samples, dict):
            samples.setdefault(PLUGIN_NAME, SAMPLES_PER_TAG)

    def load(self, context: Any) -> Any:
        """The plugin; None, which leaves the tab out, when it can't be imported here."""
        try:
            from tb_shapeplugin.serve.plugin import ShapesPlugin  # noqa: PLC0415  what it needs may be missing or broken here

            return ShapesPlugin(context)
        except Exception:
            logging.getLogger(__name__).exception("The tab Shapes can't be loaded; TensorBoard goes on without it.")
            return None
