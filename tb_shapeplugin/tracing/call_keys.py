"""Which call of which module is running, also on the way back through it."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from torch import nn

from tb_shapeplugin.record.memory import CallKey
from tb_shapeplugin.tracing.compat_autograd import node_going_back, nodes_made
from tb_shapeplugin.tracing.twin import Twin

_NONE = CallKey()


class CallKeys:
    """Counts a twin's calls of modules while they run; ``call`` is the handler that they go through.

    Nodes of autograd are numbered as they are made: a node's number tells the call whose forward made it.
    """

    def __init__(self, twin: Twin) -> None:
        self._stand_ins = twin.stand_ins
        named = list(twin.model.named_modules()) if isinstance(twin.model, nn.Module) else []
        self.paths = {id(module): path.replace("_orig_mod.", "").removesuffix("_orig_mod").removesuffix(".") for path, module in named}
        self._wrapped = {id(module) for path, module in named if path.endswith("_orig_mod")}
        self._counts: dict[str, int] = {}
        self._stack: list[CallKey] = [_NONE]
        self._since: list[int] = []  # the numbers of nodes at which the running call changed
        self._keys: list[CallKey] = []  # to which one
        self._back = _NONE  # the last one that was gone back through

    @property
    def running(self) -> CallKey:
        """The call that runs."""
        return self._stack[-1]

    def begin(self) -> None:
        """A forward begins: each module's next call is its first."""
        self._counts.clear()
        self._stack[:] = [_NONE]
        self._back = _NONE
        self._since, self._keys = [nodes_made()], [_NONE]

    def here(self, going_back: bool) -> CallKey:
        """The call that an op belongs to; in a backward the one whose forward it goes back through."""
        if not going_back or len(self._stack) > 1:  # a forward that is run once more, for its activations
            return self._stack[-1]
        node = node_going_back()
        if node >= 0 and self._since:
            self._back = self._keys[max(0, bisect_right(self._since, node) - 1)]
        return self._back

    def call(self, run: Callable[..., Any], module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs a call of a module, or of the one that stands in for it."""
        module = self._stand_ins.get(id(module), module)
        path = self.paths.get(id(module))
        if path is None or (id(module) in self._wrapped and path == self.running.path):  # a wrapper hands its call on
            return run(module, *args, **kwargs)
        number = self._counts[path] = self._counts.get(path, 0) + 1
        self._enter(CallKey(path, number))
        try:
            return run(module, *args, **kwargs)
        finally:
            self._stack.pop()
            self._mark()

    def _enter(self, key: CallKey) -> None:
        self._stack.append(key)
        self._mark()

    def _mark(self) -> None:
        self._since.append(nodes_made())
        self._keys.append(self._stack[-1])
