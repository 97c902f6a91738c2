"""Which candidates of one finding repair it: each is run, and ranked by how little else it changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.each_pass import at_each_pass
from tb_shapeplugin.fixes.impact import changed_ops, loses_batch, reached_as_far, swells
from tb_shapeplugin.fixes.rerunner import Changes, Outcome, Rerunner
from tb_shapeplugin.fixes.situation import Candidate
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Trace

_ENOUGH = 4  # repairs of one finding, after which no more are tried
_MOST_FOLLOWED = 3  # tries whose one new failure is repaired, too
_FOLLOWED = 0.2  # effort that a second change adds
_SPREAD = 0.7  # effort above the best fix's, up to which others are worth telling
_COINCIDENCE = 2  # ops elsewhere that may change shape before a fix that isn't meant to reshape is suspected


@dataclass(frozen=True, slots=True)
class Repair:
    """A fix that alone repairs its finding and breaks nothing else; ``covers`` are all failures that go away with it."""

    fix: Fix
    rank: tuple[float, ...]  # the lower the better: whether it is suspect, its effort, how many ops change shape, its place in the order
    covers: frozenset[Site]


@dataclass(frozen=True)
class Search:
    """The run that failed, where it failed, and the way to run it again.

    Example:
        >>> search = Search(trace, frozenset(sites(trace)), Rerunner(examination.retry, Budget()))
        >>> search.repairs(frozenset(sites(trace)), offered(trace, finding))[0].fix.text
        'nn.Linear(864, 120)'
    """

    trace: Trace
    known: frozenset[Site]
    rerun: Rerunner

    def repairs(self, own: frozenset[Site], offer: Sequence[Candidate], behind: frozenset[Site] = frozenset()) -> list[Repair]:
        """The candidates that repair the finding which stands at those sites, the best first.

        One that leaves a failure ``behind`` it, said to follow from it, is suspect: what is right upstream is right downstream.
        """
        accepted: list[Repair] = []
        near: list[tuple[Candidate, Outcome]] = []
        for order, candidate in enumerate(offer):
            best = min((repair.rank for repair in accepted), default=None)
            enough = sum(not repair.rank[0] for repair in accepted) >= _ENOUGH
            if enough or (best is not None and not best[0] and candidate.effort > best[1] + _SPREAD):
                break
            outcome = self.rerun(candidate.fix.changes, self.known - own)
            if outcome is not None and self._repairs(outcome, own):
                accepted.append(self._repair(candidate, outcome, order, behind))
            elif outcome is not None and not outcome.sites & own and outcome.sites - self.known:
                near.append((candidate, outcome))
        best = min((repair.rank for repair in accepted), default=(9.0,))
        promising = (item for item in near if (0.0, item[0].effort + _FOLLOWED) < best)
        accepted += list(self._followed(promising, own, behind, [repair.fix.changes for repair in accepted]))
        accepted.sort(key=lambda repair: repair.rank)
        return [repair for repair in accepted if self._worth_telling(repair, accepted[0])]

    def _repairs(self, outcome: Outcome, own: frozenset[Site]) -> bool:
        fails_nowhere_else = outcome.sites <= self.known - own and reached_as_far(self.trace, outcome.trace)
        return fails_nowhere_else and not swells(self.trace, outcome.trace)

    @staticmethod
    def _worth_telling(repair: Repair, best: Repair) -> bool:
        return repair.rank[0] <= best.rank[0] and repair.rank[1] <= best.rank[1] + _SPREAD

    def _repair(self, candidate: Candidate, outcome: Outcome, order: int, behind: frozenset[Site]) -> Repair:
        covers = self.known - outcome.sites
        changed = changed_ops(self.trace, outcome.trace)
        suspect = float(changed > _COINCIDENCE and not candidate.reshapes) + 2.0 * loses_batch(self.trace, outcome.trace)
        suspect += not behind.isdisjoint(outcome.sites)
        return Repair(candidate.fix, (suspect, candidate.effort, changed, order), covers)

    def _followed(
        self, near: Iterable[tuple[Candidate, Outcome]], own: frozenset[Site], behind: frozenset[Site], alone: Sequence[Changes]
    ) -> Iterator[Repair]:
        """Candidates that uncover one more failure: of the same statement, made at each of its passes; else together with its repair.

        Not with one that is a repair ``alone``.
        """
        for order, (candidate, outcome) in enumerate(list(near)[:_MOST_FOLLOWED]):
            for both in self._with_more(candidate, outcome, own, alone):
                after = self.rerun(both.fix.changes, self.known - own)
                if after is not None and self._repairs(after, own):
                    yield self._repair(both, after, order, behind)
                    break

    def _with_more(self, candidate: Candidate, outcome: Outcome, own: frozenset[Site], alone: Sequence[Changes]) -> Iterator[Candidate]:
        statements = {site.statement for site in own}
        if any(site.statement in statements for site in outcome.sites - self.known):
            spread = at_each_pass(self.trace, candidate)
            yield from [] if spread is None else [replace(spread, effort=spread.effort + _FOLLOWED)]
        seconds = self._for_what_comes(outcome.trace)[:_MOST_FOLLOWED]
        yield from (_together(candidate, second) for second in seconds if second.fix.changes not in alone)

    def _for_what_comes(self, trace: Trace) -> list[Candidate]:
        """Candidates for the first failure that the first run didn't have."""
        fresh = next((failure for failure, site in zip(trace.failures, sites(trace), strict=True) if site not in self.known), None)
        told = next((finding for finding in findings(trace) if fresh is not None and finding.op_index == fresh.op), None)
        if fresh is None or told is None:
            return []
        return [candidate for candidate in candidates(trace, fresh, told) if candidate.fix.changes]


def _together(first: Candidate, second: Candidate) -> Candidate:
    cost = "; ".join(filter(None, dict.fromkeys((first.fix.cost, second.fix.cost))))
    fix = Fix(f"{first.fix.text} and {second.fix.text}", (*first.fix.changes, *second.fix.changes), cost=cost)
    return replace(first, fix=fix, effort=first.effort + _FOLLOWED, reshapes=True)
