"""How far rows go towards what is declared of how they come: by rule, the k that is in use and the
k that is observed ([B] 4.3)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.rules.meter_rules import Metered, RuleMeter, k_in_use
from ontoweir.runtime.rules.watched_rule import RuleKind, WatchedRule
from ontoweir.runtime.times.watch_lateness import NOT_WATCHED

Limit = Mapping[str, Any]
"""`stream`, `rule`; `unit`: seconds, rows or values; `in_use`, `observed` (of the last window),
`greatest` (since the run began or went on), as numbers; and `shown`: the first two as text."""


def measure_limits(job: LiveJob, state: LiveState) -> list[Limit]:
    """What is in use and observed of the lateness of every stream, and of every rule whose columns
    are read."""
    return [*_measure_lateness(job, state), *_measure_rules(job, state)]


def list_events(before: Sequence[Limit], after: Sequence[Limit]) -> list[str]:
    """What has changed: a k in use; or one that is observed has become greater than that."""
    known = {(limit["stream"], limit["rule"]): limit for limit in before}
    found = []
    for limit in after:
        named = f"{limit['stream']}: {limit['rule']}"
        old, shown = known.get((limit["stream"], limit["rule"])), limit["shown"]
        if old is not None and old["in_use"] != limit["in_use"]:
            found.append(
                f"{named}: {shown['in_use']} in use, as observed, and no longer "
                f"{old['shown']['in_use']}"
            )
        told = 0 if old is None else max(old["observed"], limit["in_use"])
        if limit["observed"] > limit["in_use"] and limit["observed"] > told:
            found.append(f"{named}: {shown['observed']} observed, and {shown['in_use']} in use")
    return found


def _measure_lateness(job: LiveJob, state: LiveState) -> Iterator[Limit]:
    for history in job.histories:
        stream = history.stream
        watch = state.watches.get(stream.name, NOT_WATCHED)
        if not stream.lateness_us and not watch.seen.ever:
            continue
        yield _show(
            stream.name,
            "lateness",
            RuleKind.GAP,
            (state.lateness_of(stream), watch.seen.most, watch.seen.ever),
        )


def _measure_rules(job: LiveJob, state: LiveState) -> Iterator[Limit]:
    rules: Sequence[Metered] = job.metered
    meters = state.meters if len(state.meters) == len(rules) else (RuleMeter(),) * len(rules)
    for metered, meter in zip(rules, meters, strict=True):
        rule = metered.rule
        numbers = k_in_use(metered, meter), meter.seen.most, meter.seen.ever
        if metered.counts:
            named = f"rows of one {', '.join(rule.columns)}"
            yield _show(rule.stream, named, RuleKind.ROWS, numbers)
        else:
            yield _show(rule.stream, _name(rule), rule.kind, numbers)


def _show(stream: str, rule: str, kind: RuleKind, numbers: tuple[int, int, int]) -> Limit:
    timed = kind in (RuleKind.SPAN, RuleKind.GAP)
    counted = kind in (RuleKind.ROWS, RuleKind.ORDER)
    unit = "seconds" if timed else "rows" if counted else "values"
    used, observed, greatest = (n / 1e6 if timed else n for n in numbers)
    texts = [show_duration(n) if timed else f"{n:,} {unit}" for n in numbers[:2]]
    return {
        "stream": stream,
        "rule": rule,
        "unit": unit,
        "in_use": used,
        "observed": observed,
        "greatest": greatest,
        "shown": dict(zip(("in_use", "observed"), texts, strict=True)),
    }


def _name(rule: WatchedRule) -> str:
    """A rule in a few words."""
    names = ", ".join(rule.columns)
    if rule.behind is not None:
        return f"lags behind {rule.behind[0]} on {names}"
    match rule.kind:
        case RuleKind.SPAN:
            return f"clustered on {names}, within"
        case RuleKind.GAP:
            return f"clustered on {names}, gap"
        case RuleKind.ROWS:
            return f"clustered on {names}, rows"
        case RuleKind.SLACK:
            return f"ordered by {names}, slack"
        case RuleKind.ORDER:
            return f"ordered by {names}, rows"
        case RuleKind.END:
            return f"closed by {rule.ends}, open {names}"
