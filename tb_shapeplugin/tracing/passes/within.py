"""Going on at known failures only: a run that fails anywhere else ends there."""

from tb_shapeplugin.record.site import Site
from tb_shapeplugin.tracing.going_on import GoneOn, RaisedModule, RaisedOp
from tb_shapeplugin.tracing.passes.recover import GoOn


class Within:
    """A Recovery that goes on as another one does where failing is allowed; what comes behind any other failure isn't worth a run."""

    def __init__(self, going: GoOn, allowed: frozenset[Site]) -> None:
        self._going = going
        self._allowed = allowed
        self.escaped = going.escaped
        self.go_on = going.go_on
        self._ended = False

    def insists(self, site: Site) -> bool:
        """Is the run to go on there although the user's code has a handler around it?"""
        return self._going.insists(site)

    def after_op(self, raised: RaisedOp) -> GoneOn | None:
        """What stands in for the output of a torch function that raised; the end of the run where it may not raise."""
        if raised.site in self._allowed:
            return self._going.after_op(raised)
        self._ended = True
        return GoneOn(None, (), ends=True)

    def after_module(self, raised: RaisedModule) -> GoneOn | None:
        """The same for a module whose own code raised, or let through what ended the run."""
        return None if self._ended else self._going.after_module(raised)
