"""Runs, models, steps and stored bytes, out of TensorBoard's data provider, whichever loader stands behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorboard import errors
from tensorboard.data import provider

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.base.names import PLUGIN_NAME, SAMPLES_PER_TAG
from tb_shapeplugin.wire.header import Header

# Any, here and below: TensorBoard ships no types.
_Series: TypeAlias = Sequence[Any]
_Listing: TypeAlias = Mapping[str, Mapping[str, Any]]


class NothingThere(Exception):
    """No such run, tag or step; the message says which are."""


@dataclass(frozen=True, slots=True)
class LoggedModel:
    """One tag of ours in one run; ``problem`` is a sentence where its header or its steps can't be read."""

    tag: str
    steps: tuple[int, ...]
    header: Header | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Runs:
    """What one experiment holds.

    Example:
        >>> Runs(context.data_provider, plugin_util.context(environ), "").models()["first"][0].steps
        (0,)
    """

    data_provider: Any
    context: Any
    experiment_id: str

    def models(self) -> dict[str, list[LoggedModel]]:
        """Every logged model by run, both in the order of their names."""
        blobs = self._ask(self.data_provider.list_blob_sequences)
        tensors = self._ask(self.data_provider.list_tensors)
        steps = self._all_steps(blobs)
        found: dict[str, dict[str, LoggedModel]] = {}
        for run, tags in tensors.items():
            for tag in tags:
                problem = "This record is stored as a tensor, not as a blob, by something else than Shapes. Log the model with add_shapes."
                found.setdefault(run, {})[tag] = LoggedModel(tag, (), None, problem)
        for run, tags in blobs.items():
            for tag, listed in tags.items():
                found.setdefault(run, {})[tag] = _logged(tag, listed, steps.get((run, tag), ()))
        return {run: [found[run][tag] for tag in sorted(found[run])] for run in sorted(found)}

    def record(self, run: str, tag: str, step: int | None = None) -> bytes:
        """The stored bytes at a step, the last one where none is given.

        Raises:
            NothingThere: no such run, tag or step.
            RecordError: there is one, and it holds no bytes.
        """
        series = [datum for datum in self._series(run, tag) if step is None or datum.step == step]
        if not series:
            at = "" if step is None else f" at step {step}"
            raise NothingThere(f"There is no record {tag!r}{at} in run {run!r}. It may have been sampled away: reload, and choose another.")
        values = series[-1].values
        if not values:
            raise RecordError("This record is an empty sequence of blobs. Log the model again.")
        try:
            return bytes(self.data_provider.read_blob(ctx=self.context, blob_key=values[0].blob_key))
        except errors.NotFoundError as error:
            raise NothingThere(f"The record {tag!r} of run {run!r} is gone. The logs changed: reload.") from error
        except (IndexError, TypeError, ValueError) as error:
            raise RecordError(f"This record is no sequence of blobs ({error}). Log the model again.") from error

    def plugins_by_run(self) -> dict[str, tuple[str, ...]]:
        """Every run with the plugins that have data in it, in the order of their names."""
        plugins: dict[str, set[str]] = {run.run_name: set() for run in self._ask_all(self.data_provider.list_runs)}
        for plugin in self._ask_all(self.data_provider.list_plugins):
            for ask in (self.data_provider.list_scalars, self.data_provider.list_tensors, self.data_provider.list_blob_sequences):
                for run in self._ask(ask, plugin):
                    plugins.setdefault(run, set()).add(plugin)
        return {run: tuple(sorted(plugins[run])) for run in sorted(plugins)}

    def _all_steps(self, blobs: _Listing) -> dict[tuple[str, str], tuple[int, ...]]:
        """One question for all of them; where a damaged one spoils it for all, one question each."""
        try:
            read: _Listing = self._read(None, None)
        except Exception:  # the Python loader converts every record on the way, whatever is in it
            read = {run: {tag: self._series_if_any(run, tag) for tag in tags} for run, tags in blobs.items()}
        return {(run, tag): tuple(datum.step for datum in series) for run, tags in read.items() for tag, series in tags.items()}

    def _series_if_any(self, run: str, tag: str) -> _Series:
        try:
            return self._series(run, tag)
        except Exception:  # as above; said as the problem of this one model
            return ()

    def _series(self, run: str, tag: str) -> _Series:
        read: _Series = self._read([run], [tag]).get(run, {}).get(tag, ())
        return read

    def _read(self, runs: list[str] | None, tags: list[str] | None) -> Any:
        return self._ask(
            self.data_provider.read_blob_sequences,
            downsample=SAMPLES_PER_TAG,
            run_tag_filter=provider.RunTagFilter(runs=runs, tags=tags),
        )

    def _ask(self, ask: Callable[..., Any], plugin: str = PLUGIN_NAME, **options: Any) -> Any:
        try:
            return ask(self.context, experiment_id=self.experiment_id, plugin_name=plugin, **options)
        except errors.NotFoundError:  # nothing is there
            return {}

    def _ask_all(self, ask: Callable[..., Any]) -> Any:
        return ask(self.context, experiment_id=self.experiment_id)


def _logged(tag: str, listed: Any, steps: tuple[int, ...]) -> LoggedModel:
    try:
        header = Header.from_json(listed.plugin_content)
    except RecordError as error:
        return LoggedModel(tag, steps, None, str(error))
    problem = None if steps else "None of its records can be read. Log the model again."
    return LoggedModel(tag, steps, header if steps else None, problem)
