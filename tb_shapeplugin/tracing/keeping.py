"""What autograd keeps for a backward, told by the hooks that it calls for each tensor."""

from dataclasses import dataclass, field
from typing import Any

import torch

from tb_shapeplugin.record.memory import Saved, SavedKind
from tb_shapeplugin.tracing.call_keys import CallKeys
from tb_shapeplugin.tracing.compat import storage_of
from tb_shapeplugin.tracing.compat_autograd import made_by_newest_node
from tb_shapeplugin.tracing.liveness import Liveness


@dataclass
class Keeping:
    """The storages that autograd keeps for a backward, each once; parameters left out."""

    kinds: dict[int, SavedKind | None]  # by the storage's key; None for a parameter's
    calls: CallKeys
    liveness: Liveness
    goes_back: bool  # does a backward follow, which wants tensors?
    found: dict[int, Saved] = field(default_factory=dict)
    fault: Exception | None = None

    def watched(self) -> Any:
        """A context in which autograd asks what to keep."""
        return torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)

    def _pack(self, tensor: torch.Tensor) -> Any:
        """What autograd keeps in the tensor's place: the same storage, and nothing that leads back to the op that keeps it.

        An op's node is made before anything is kept for it: only the op's own output leads back to it.
        """
        storage = None
        try:
            key, storage, size = storage_of(tensor)
            kind = self.kinds.get(key, "activation")
            if storage is not None and size > 0 and kind is not None and key not in self.found:
                self.found[key] = Saved(size, kind, self.calls.running)
                self.liveness.kept(key)
        except Exception as fault:  # of ours: autograd would take it for the op's
            self.fault = fault
        if storage is not None and not self.goes_back:
            return storage
        return tensor.detach() if made_by_newest_node(tensor) else tensor
