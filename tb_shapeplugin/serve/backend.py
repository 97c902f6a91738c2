"""What every handler is handed: TensorBoard's context, read once, and the built frontend's files."""

from dataclasses import dataclass
from typing import Any

from tensorboard import plugin_util
from werkzeug.wrappers import Request

from tb_shapeplugin.read.runs import Runs
from tb_shapeplugin.serve.assets import BUILT, Assets


@dataclass(frozen=True, slots=True)
class Backend:
    """Made when TensorBoard starts, and never changed."""

    data_provider: Any  # TensorBoard ships no types
    logdir: str
    loader: str  # "fast" | "python"
    assets: Assets

    @staticmethod
    def of(context: Any) -> "Backend":
        """The backend of a TBContext."""
        logdir = context.logdir or getattr(context.flags, "logdir_spec", "") or ""
        loader = "fast" if context.multiplexer is None else "python"
        return Backend(context.data_provider, logdir, loader, Assets.of(BUILT))

    def runs(self, request: Request) -> Runs:
        """The runs that a request may see."""
        return Runs(self.data_provider, plugin_util.context(request.environ), plugin_util.experiment_id(request.environ))
