"""Random streams with rules of which what breaks them is rejected or counted, and which rows do,
by the words of the rules, timestamp by timestamp."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from ontoweir.mappings.model.catalog import Breach, ClosingRule, Lag
from tests.oracle.closing_cases import ClosingCase, find_order_end, make_closing_case

Row = tuple[Any, ...]
"""Of `page` k, kind, cost, last, ts; of `buy` k, kind, ts: k is first, the time is last."""


@dataclass(frozen=True)
class RuledCase:
    """Rules of `page`, and lags of `buy` and `page` behind each other, over the rows of a case."""

    case: ClosingCase
    closing: tuple[ClosingRule, ...]
    lags: Mapping[str, tuple[Lag, ...]]

    @property
    def streams(self) -> dict[str, tuple[Row, ...]]:
        return {"page": self.case.page, "buy": self.case.buy}

    @property
    def rules(self) -> list[tuple[str, ClosingRule | Lag]]:
        """In the order in which reasons count."""
        every: list[tuple[str, ClosingRule | Lag]] = []
        for name in sorted(self.streams):
            every += ((name, lag) for lag in self.lags.get(name, ()))
            every += ((name, rule) for rule in self.closing if name == "page")
        return every


@dataclass
class Admission:
    """What was let in, by stream; what was rejected, with the number of its rule; and how many rows
    broke each rule that counts, by its number."""

    kept: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    rejected: list[tuple[str, Row, int]] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=lambda: defaultdict(int))


def make_ruled_case(random: Random) -> RuledCase:
    """A random case: one rule that closes what is grouped, and others, of which some reject."""
    first = make_closing_case(random)
    while first.rule.of_key:
        first = make_closing_case(random)
    closing: list[ClosingRule] = []
    lags: dict[str, tuple[Lag, ...]] = {}
    breach = make_breach(random)
    span = first.rule.span_us
    if span is not None:
        lags["page"] = (Lag("page", ("k",), ("k",), span, breach=breach),)
    else:
        if first.rule.is_order:
            breach = Breach(breach.reject, values=1)
        closing.append(replace(first.rule, breach=breach))
    if random.random() < 0.4 and len(first.group) == 1:  # else it would close what is grouped
        more = random.choice([ClosingRule(("kind",), gap_us=2), ClosingRule(("kind",), rows=2)])
        closing.append(replace(more, breach=make_breach(random)))
    if random.random() < 0.5:
        one = Lag("page", ("k",), ("k",), random.choice([0, 2]), breach=make_breach(random))
        lags["buy"] = (one,)
    if random.random() < 0.2:
        lags["page"] = (
            *lags.get("page", ()),
            Lag("buy", ("k",), ("k",), 3, breach=make_breach(random)),
        )
    kept = replace(first, page=_runs(random, first.page))
    return RuledCase(kept, tuple(closing), lags)


def _runs(random: Random, page: tuple[Row, ...]) -> tuple[Row, ...]:
    """Fewer rows of fewer values, so that some are closed, and come again."""
    wait = random.choice([1, 1, 3])
    return tuple(row for row in page if row[4] // 4 % wait == 0)


def make_breach(random: Random) -> Breach:
    """What becomes of rows that break a rule."""
    reject = random.random() < 0.6
    if reject:
        return Breach(True, random.choice([1, 3, 8, 40]))
    return Breach(False, random.choice([None, 1, 3, 40]))


def admit_by_rules(ruled: RuledCase, *, whole: bool, upto: int) -> Admission:
    """Which rows are let in, step by step: a row breaks a rule by rows of earlier timestamps that
    were let in.

    Args:
        ruled: the case.
        whole: a rule that counts remembers all values.
        upto: rows of later timestamps have not come.
    """
    made = Admission()
    read = {n: ruled.streams[n] for n in _list_read(ruled)}
    rules = [
        (name, rule)
        for name, rule in ruled.rules
        if name in read and (not isinstance(rule, Lag) or rule.behind in read)
    ]
    times = sorted({row[-1] for rows in read.values() for row in rows if row[-1] <= upto})
    for time in times:
        let: list[tuple[str, Row]] = []
        for name, rows in read.items():
            for row in rows:
                if row[-1] != time:
                    continue
                found = [
                    n
                    for n, (of, rule) in enumerate(rules)
                    if of == name and _breaks(rule, row, made.kept, of, whole=whole)
                ]
                rejecting = [n for n in found if _breach(rules[n][1]).reject]
                if rejecting:
                    made.rejected.append((name, row, rejecting[0]))
                    continue
                let.append((name, row))
                for n in found:
                    made.broken[n] += 1
        for name, row in let:
            made.kept[name].append(row)
    return made


def _list_read(ruled: RuledCase) -> list[str]:
    return ["page"] if ruled.case.wait is None else ["page", "buy"]


def _breach(rule: ClosingRule | Lag) -> Breach:
    assert rule.breach is not None
    return rule.breach


def _breaks(
    rule: ClosingRule | Lag,
    row: Row,
    kept: Mapping[str, Sequence[Row]],
    stream: str,
    *,
    whole: bool,
) -> bool:
    breach = _breach(rule)
    far = 1 << 40
    counts = whole and not breach.reject
    remember = far if breach.remember_us is None or counts else breach.remember_us
    if not counts and breach.remember_us is None and breach.values is None:
        return False
    place = 0 if rule.columns == ("k",) else 1
    if row[place] is None:
        return False
    if isinstance(rule, ClosingRule) and rule.is_order:
        rows = [r for r in kept.get(stream, ()) if r[place] is not None]
        return find_order_end(rule, row[place], rows) is not None
    name = rule.behind if isinstance(rule, Lag) else stream
    same = [r for r in kept.get(name, ()) if r[place] == row[place]]
    time = row[-1]
    if isinstance(rule, Lag) or rule.ends is not None:
        span = rule.within_us if isinstance(rule, Lag) else 0
        said = same if isinstance(rule, Lag) else [r for r in same if r[3]]
        since = None
        for r in said:
            if since is None or r[-1] - since > span + remember:
                since = r[-1]
        return since is not None and span < time - since <= span + remember
    if not same:
        return False
    last = same[-1][-1]
    if rule.gap_us is not None:
        return bool(rule.gap_us < time - last <= rule.gap_us + remember)
    assert rule.rows is not None
    between = sum(last < r[-1] < time and r[place] is not None for r in kept[stream])
    return bool(between > rule.rows and time - last <= remember)
