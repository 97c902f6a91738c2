"""Tries candidate fixes on the twin: a fix is verified only where the whole model then completes."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypeAlias

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate, Change
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.trace import Failure, OpFact, Trace
from tb_shapeplugin.tracing.execution import Examination, Retry

Changes: TypeAlias = tuple[Change, ...]
Site: TypeAlias = tuple[str, str, str, int]  # op, module path, file, line

_MOST_VERIFIED = 4
_MOST_SUGGESTED = 2
_ENOUGH = 4  # accepted fixes of one finding, after which no more are tried
_MOST_TRIES = 14  # of one finding
_MOST_FOLLOWED = 3  # tries whose one new failure is repaired, too
_MOST_COMBINATIONS = 8
_MOST_NAMED = 2  # further places that a fix names
_FOLLOWED = 0.2  # effort that a second change adds
_SPREAD = 0.7  # effort above the best fix's, up to which others are worth telling
_COINCIDENCE = 2  # ops elsewhere that may change shape before a fix that isn't meant to reshape is suspected


@dataclass(frozen=True, slots=True)
class Budget:
    """How much trying may cost: re-runs of the twin, and seconds."""

    passes: int = 64
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class _Tried:
    """A fix that alone repairs its finding and breaks nothing else; ``changed`` ops elsewhere give another shape with it."""

    fix: Fix
    rank: tuple[float, ...]


def repaired(found: tuple[Finding, ...], examination: Examination, budget: Budget | None = None) -> tuple[Finding, ...]:
    """The findings with their fixes: verified ones first, then suggestions. Nothing that goes wrong in trying comes out.

    Args:
        found: findings of the examination's trace.
        examination: the run, and the way to ask its twin what would be.
        budget: how much may be tried; 64 re-runs and 10 seconds unless given.

    Example:
        >>> [fix.text for fix in repaired(findings(examination.trace), examination)[0].fixes if fix.verified]
        ['nn.Linear(864, 120)']
    """
    if not found:
        return found
    try:
        fixes = _Workshop(found, examination, budget or Budget()).fixes()
    except Exception:  # a diagnosis without fixes is worth more than none
        return found
    return _with_fixes(found, fixes)


def _with_fixes(found: tuple[Finding, ...], fixes: dict[int, tuple[Fix, ...]]) -> tuple[Finding, ...]:
    """The findings, with each ``caused_by`` among them."""
    made: dict[int, Finding] = {}
    for finding in found:
        cause = made[id(finding.caused_by)] if finding.caused_by is not None else None
        made[id(finding)] = replace(finding, fixes=fixes.get(id(finding), ()), caused_by=cause)
    return tuple(made.values())


@dataclass
class _Workshop:
    """The findings of one run, and what was tried on them."""

    found: tuple[Finding, ...]
    examination: Examination
    budget: Budget
    _passes: int = 0
    _answers: dict[str, Trace | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._trace = self.examination.trace
        self._deadline = time.monotonic() + self.budget.seconds
        self._sites = {_site(self._trace, failure) for failure in self._trace.failures}

    def fixes(self) -> dict[int, tuple[Fix, ...]]:
        """The fixes of each finding that stands by itself, by the finding's id."""
        causes = [finding for finding in self.found if finding.caused_by is None and finding.severity == "error"]
        offered = [self._offered(self._trace, finding) for finding in causes]
        if self.examination.retry is None:
            return {id(finding): _suggested((), (), offer) for finding, offer in zip(causes, offered, strict=True)}
        share = max(4, min(_MOST_TRIES, self.budget.passes // (len(causes) + 1)))
        tried = [self._tried(finding, offer, share) for finding, offer in zip(causes, offered, strict=True)]
        firsts = self._combination([items for items, _ in tried]) or self._one_by_one(causes)
        result = {}
        for at, (finding, offer, (items, failed)) in enumerate(zip(causes, offered, tried, strict=True)):
            alone = [item.fix for item in items]
            verified = self._verified(firsts, at, alone) if firsts else ()
            untried = [candidate for candidate in offer if candidate.fix.changes not in failed]
            result[id(finding)] = (*verified, *_suggested(verified, alone, untried))
        return result

    def _offered(self, trace: Trace, finding: Finding) -> tuple[Candidate, ...]:
        """A finding's candidates, each for all of its places."""
        failures = _failures(trace, finding)
        if not failures:
            return ()
        first, *others = (candidates(trace, failure, finding) for failure in failures)
        return tuple(_everywhere(candidate, others) for candidate in first)

    def _retry(self, changes: Changes) -> Trace | None:
        """The twin's run with these changes; None where they can't be applied, or the budget is spent."""
        retry: Retry | None = self.examination.retry
        key = _key(changes)
        if key not in self._answers:
            if retry is None or _confusable(changes) or self._passes >= self.budget.passes or time.monotonic() > self._deadline:
                return None
            self._passes += 1
            self._answers[key] = retry(changes)
        return self._answers[key]

    def _tried(self, finding: Finding, offer: Sequence[Candidate], most: int) -> tuple[list[_Tried], list[Changes]]:
        """The candidates that repair the finding, the best first, and the changes that are known not to."""
        sites = _sites_of(self._trace, finding)
        accepted: list[_Tried] = []
        near: list[tuple[Candidate, Trace]] = []
        failed: list[Changes] = []
        for order, candidate in enumerate([c for c in offer if c.fix.changes][:most]):
            trace = self._retry(candidate.fix.changes)
            left = {_site(trace, failure) for failure in trace.failures} if trace else set()
            repairs = trace is not None and not left & sites and self._reached_as_far(trace)
            if trace is not None and repairs and left <= self._sites:
                accepted.append(_Tried(candidate.fix, self._rank(trace, candidate, order)))
            elif trace is not None and repairs:
                near.append((candidate, trace))
            if _key(candidate.fix.changes) in self._answers and not (repairs and left <= self._sites):
                failed.append(candidate.fix.changes)
            if len(accepted) >= _ENOUGH:
                break
        best = min((item.rank for item in accepted), default=(9.0,))
        accepted += self._followed(item for item in near if (0.0, item[0].effort + _FOLLOWED) < best)
        accepted.sort(key=lambda item: item.rank)
        return [item for item in accepted if item.rank[1] <= accepted[0].rank[1] + _SPREAD], failed

    def _followed(self, near: Iterable[tuple[Candidate, Trace]]) -> Iterator[_Tried]:
        """Candidates that uncover one more failure, together with its repair."""
        for order, (candidate, trace) in enumerate(list(near)[:_MOST_FOLLOWED]):
            fresh = [failure for failure in trace.failures if _site(trace, failure) not in self._sites]
            told = {finding.op_index: finding for finding in findings(trace)}
            if not fresh or fresh[0].op not in told:
                continue
            further = candidates(trace, fresh[0], told[fresh[0].op])
            for second in [c for c in further if c.fix.changes][:_MOST_FOLLOWED]:
                changes = (*candidate.fix.changes, *second.fix.changes)
                after = self._retry(changes)
                if after is None or not self._reached_as_far(after) or {_site(after, f) for f in after.failures} - self._rest(candidate):
                    continue
                both = replace(candidate, effort=candidate.effort + _FOLLOWED, reshapes=True)
                text = f"{candidate.fix.text} and {second.fix.text}"
                cost = "; ".join(filter(None, dict.fromkeys((candidate.fix.cost, second.fix.cost))))
                yield _Tried(Fix(text, changes, cost=cost), self._rank(after, both, order))
                break

    def _rest(self, candidate: Candidate) -> set[Site]:
        """The sites that may still fail once a candidate's own finding is repaired."""
        trace = self._retry(candidate.fix.changes)
        return {_site(trace, failure) for failure in trace.failures} & self._sites if trace else set()

    def _rank(self, trace: Trace, candidate: Candidate, order: int) -> tuple[float, ...]:
        changed = _changed(self._trace, trace)
        return (float(changed > _COINCIDENCE and not candidate.reshapes), candidate.effort, changed, order)

    def _reached_as_far(self, trace: Trace) -> bool:
        """Did the run end no earlier than the first one, and could it be checked as well?"""
        return (bool(trace.outputs) or not self._trace.outputs) and set(trace.unchecked) <= set(self._trace.unchecked)

    def _completes(self, chosen: Iterable[Fix]) -> bool:
        trace = self._retry(tuple(change for fix in chosen for change in fix.changes))
        return trace is not None and trace.completed and self._reached_as_far(trace)

    def _combination(self, tried: list[list[_Tried]]) -> list[Fix]:
        """One accepted fix of each finding, the best ones first, with which the model completes; empty where none is found."""
        if not tried or not all(tried):
            return []
        best = [options[0].fix for options in tried]
        others = ([*best[:at], other.fix, *best[at + 1 :]] for at, options in enumerate(tried) for other in options[1:])
        tries = map(_once, islice((chosen for chosen in chain([best], others) if not _overlap(chosen)), _MOST_COMBINATIONS))
        return next((chosen for chosen in tries if self._completes(chosen)), [])

    def _one_by_one(self, causes: list[Finding]) -> list[Fix]:
        """A fix of each finding that is made for what the fixes before it left; empty where the model doesn't complete with them.

        One fix may change the numbers of the next finding: twice the channels are twice the features behind a flatten.
        """
        chosen: list[Fix] = []
        for finding in causes:
            so_far = _distinct(change for fix in chosen for change in fix.changes)
            trace = self._retry(so_far) if so_far else self._trace
            sites = _sites_of(self._trace, finding)
            now = [told for told in findings(trace) if _sites_of(trace, told) & sites] if trace else []
            if trace is None:
                return []
            if not now:
                chosen.append(Fix(f"{chosen[-1].text} repairs this, too"))
                continue
            offer = [candidate.fix for candidate in self._offered(trace, now[0]) if candidate.fix.changes]
            fix = next((fix for fix in offer[:_MOST_FOLLOWED] if self._gone(_distinct((*so_far, *fix.changes)), sites)), None)
            if fix is None:
                return []
            chosen.append(fix)
        return chosen if len(chosen) > 1 and self._completes(chosen) else []

    def _gone(self, changes: Changes, sites: set[Site]) -> bool:
        trace = self._retry(changes)
        left = {_site(trace, failure) for failure in trace.failures} if trace else sites
        return trace is not None and self._reached_as_far(trace) and not left & sites and not left - self._sites

    def _verified(self, firsts: list[Fix], at: int, alone: Iterable[Fix]) -> tuple[Fix, ...]:
        first = firsts[at]
        beside = ([*firsts[:at], fix, *firsts[at + 1 :]] for fix in alone if fix.changes != first.changes)
        others = (chosen[at] for chosen in beside if not _overlap(chosen) and self._completes(chosen))
        return tuple(replace(fix, verified=True) for fix in [first, *others][:_MOST_VERIFIED])


def _suggested(verified: Iterable[Fix], alone: Iterable[Fix], rest: Iterable[Candidate]) -> tuple[Fix, ...]:
    """Fixes that nothing is known against; those in words only where nothing is verified, or as an addition."""
    used = [fix.changes for fix in verified]
    ordered = [*alone, *(candidate.fix for candidate in rest)]
    fresh = [fix for at, fix in enumerate(ordered) if (not fix.changes or fix.changes not in used) and fix not in ordered[:at]]
    words = [fix for fix in fresh if not fix.changes]
    return tuple(([*words, *(fix for fix in fresh if fix.changes)] if not used else words)[:_MOST_SUGGESTED])


def _everywhere(candidate: Candidate, others: Iterable[Iterable[Candidate]]) -> Candidate:
    """The candidate with the same change at the further places of its finding."""
    changes, paths = list(candidate.fix.changes), []
    form = _form(candidate.fix)
    for offer in others:
        same = next((other for other in offer if _form(other.fix) == form), None)
        fresh = [change for change in (same.fix.changes if same else ()) if dict(change) not in map(dict, changes)]
        changes += fresh
        paths += [str(change["module"]) for change in fresh if change.get("module")]
    named = [called(path) for path in dict.fromkeys(paths)]
    more = f"{len(named)} more places" if len(named) > _MOST_NAMED else ", ".join(named)
    where = f", and the same in {more}" if named else ""
    return replace(candidate, fix=replace(candidate.fix, text=candidate.fix.text + where, changes=tuple(changes)))


def _form(fix: Fix) -> tuple[tuple[str, ...], ...]:
    kept = ("arg", "attr", "param", "op", "insert", "call", "argument", "operand", "input", "value", "dim", "dims", "shape", "arguments")
    return tuple(tuple(f"{key}={change[key]}" if key in kept else key for key in sorted(change)) for change in fix.changes)


def _failures(trace: Trace, finding: Finding) -> list[Failure]:
    at = {place.op_index for place in finding.places}
    return [failure for failure in trace.failures if failure.op in at]


def _sites_of(trace: Trace, finding: Finding) -> set[Site]:
    return {_site(trace, failure) for failure in _failures(trace, finding)}


def _key(changes: Changes) -> str:
    return repr([dict(change) for change in changes])


def _confusable(changes: Changes) -> bool:
    """Would a step that is inserted be counted as one of the calls that are changed, or not, depending on who counts?"""
    inserted = {change["insert"] for change in changes if "insert" in change}
    return any(change.get("call") in inserted for change in changes)


def _overlap(chosen: Iterable[Fix]) -> bool:
    """Do two of the fixes make one layer anew? The text of each would say what the other one undoes."""
    made = [{(change["module"], change["arg"]) for change in fix.changes if "arg" in change} for fix in chosen]
    layers = Counter(module for arguments in dict.fromkeys(map(frozenset, made)) for module in {module for module, _ in arguments})
    return any(count > 1 for count in layers.values())


def _once(chosen: Iterable[Fix]) -> list[Fix]:
    """The fixes with each change of an argument or a step in one of them only: done twice, it would be another one."""
    kept: list[Fix] = []
    for fix in chosen:
        before = [dict(change) for earlier in kept for change in earlier.changes]
        fresh = tuple(change for change in fix.changes if dict(change) not in before or not {"input", "insert", "call"} & set(change))
        kept.append(
            replace(fix, changes=fresh, text=fix.text if fresh else f"{fix.text} repairs this, too", cost=fix.cost if fresh else "")
        )
    return kept


def _distinct(changes: Iterable[Change]) -> Changes:
    kept: list[Change] = []
    for change in changes:
        if dict(change) not in map(dict, kept):
            kept.append(change)
    return tuple(kept)


def _site(trace: Trace, failure: Failure) -> Site:
    op = trace.ops[failure.op]
    source = trace.sources[op.source] if op.source >= 0 else None
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    return failure.call.name, path, source.file if source else "", source.line if source else 0


def _changed(before: Trace, after: Trace) -> int:
    """How many ops of the one run the other one doesn't have with the same output shapes."""
    return sum((_signatures(before) - _signatures(after)).values())


def _signatures(trace: Trace) -> Counter[tuple[object, ...]]:
    return Counter(_signature(trace, op) for op in trace.ops if op.inputs and not op.failed)


def _signature(trace: Trace, op: OpFact) -> tuple[object, ...]:
    path = trace.modules[trace.calls[op.call].module].path if op.call >= 0 else ""
    return path, op.name, tuple(trace.tensors[output].shape for output in op.outputs)
