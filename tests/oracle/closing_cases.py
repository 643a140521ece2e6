"""Random streams whose values a rule closes, and queries over them, evaluated row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ClosingRule,
    Column,
    DataSource,
    IntType,
    Lag,
    Stream,
    StringType,
)

MARKERS = 24
NEVER = 1 << 40
NOTHING = DataSource("parquet", "none")
PAGE = ("k", "kind", "cost", "last")


@dataclass(frozen=True)
class ClosingCase:
    """A rule of `page`, rows, and a query that groups by what it closes.

    `wait`: how long after a row of page its matches may come (None: there is no other stream);
    `before`: how long before; `where`: the least cost of rows that count; `shown`: the columns of
    SELECT beside the group, each with its aggregate (none: SELECT DISTINCT); `most`: HAVING
    COUNT(*) is not more.
    """

    rule: ClosingRule
    page: tuple[tuple[Any, ...], ...]
    buy: tuple[tuple[Any, ...], ...]
    wait: int | None
    before: int
    group: tuple[str, ...]
    where: int
    shown: tuple[tuple[str, str], ...]
    most: int | None

    @property
    def catalog(self) -> Catalog:
        span = self.rule.span_us
        ruled: Any = {"closing": (self.rule,)}
        if self.rule.of_key:
            ruled = {"keys": (("k",),)}
        elif span is not None:
            ruled = {"lags": (Lag("page", ("k",), ("k",), span),)}
        kind = Column("kind", IntType(), 0, 2)
        key = Column("k", IntType() if self.rule.is_order else StringType())
        columns = key, kind, Column("cost", IntType())
        page = Stream(
            "page",
            NOTHING,
            "ts",
            1,
            3,
            (*columns, Column("last", BooleanType())),
            **ruled,
        )
        buy = Stream("buy", NOTHING, "ts", 1, 3, (key, kind))
        return Catalog({"page": page, "buy": buy})

    @property
    def sql(self) -> str:
        selected = [*self.group, *(f"{text} AS {name}" for name, text in self.shown)]
        conditions = ["p.k IS NOT NULL", f"p.cost >= {self.where}"]
        if self.wait is not None:
            after = f"b.ts <= p.ts + INTERVAL '{self.wait}' MICROSECOND"
            conditions += [
                "b.k = p.k",
                after if self.wait else "b.ts <= p.ts",
                f"p.ts <= b.ts + INTERVAL '{self.before}' MICROSECOND"
                if self.before
                else "p.ts <= b.ts",
            ]
        source = "page p" if self.wait is None else "page p, buy b"
        if not self.shown:
            where = " AND ".join(conditions)
            return f"SELECT DISTINCT {', '.join(selected)} FROM {source} WHERE {where}"
        having = "" if self.most is None else f" HAVING COUNT(*) <= {self.most}"
        return (
            f"SELECT {', '.join(selected)} FROM {source} WHERE {' AND '.join(conditions)} "
            f"GROUP BY {', '.join(self.group)}{having}"
        )

    @property
    def data(self) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
        return {
            "page": ([*PAGE, "ts"], list(self.page)),
            "buy": (["k", "kind", "ts"], list(self.buy)),
        }


def make_closing_case(random: Random, rule: ClosingRule | None = None) -> ClosingCase:
    """A random case; its rows keep the rule, or do not."""
    gap, rows = random.choice([0, 1, 2, 5]), random.choice([0, 1, 3, 6])
    rule = rule or random.choice(
        [
            ClosingRule(("k",), gap_us=gap),
            ClosingRule(("k",), rows=rows),
            ClosingRule(("k",), ends="last", most_open=40),
            ClosingRule(("k",), span_us=gap),
            ClosingRule(("k",), span_us=0, of_key=True),
            ClosingRule(("k",), slack=random.choice([0, 1, 3])),
            ClosingRule(("k",), late_rows=rows),
        ]
    )
    wait = random.choice([None, None, 0, 1, 3])
    group = random.choice([("p.k",), ("p.k",), ("p.k", "p.kind")])
    if rule.span_us is not None and random.random() < 0.3:
        group = ("p.k", "p.cost")  # any number of values: rows of a value are few
    if wait is not None and random.random() < 0.3:
        group = ("b.k", *group[1:])
    every = [
        ("n", "COUNT(*)"),
        ("s", "SUM(p.cost)"),
        ("a", "MIN(p.cost)"),
        ("z", "MAX(p.cost)"),
        ("d", "COUNT(DISTINCT p.kind)"),
    ]
    least = 0 if rule.span_us is None else 1  # no rule by a span forgets answers of a set
    shown = tuple(random.sample(every, k=random.randint(least, 4)))
    page, buy = _make_rows(random), _make_rows(random)
    if rule.is_order:
        page, buy = _number(page), _number(buy)
    case = ClosingCase(
        rule,
        page,
        tuple((k, kind, ts) for k, kind, _, _, ts in buy),
        wait,
        0 if wait is None else random.choice([0, 0, 2]),
        group,
        random.choice([-3, -3, 0]),
        shown,
        random.choice([None, None, None, 1, 3]),
    )
    if random.random() < 0.3 and not rule.of_key:  # what breaks a key is not told
        return case
    kept: list[tuple[Any, ...]] = []
    for row in page:  # those that keep the rule
        if keeps_rule(replace(case, page=(*kept, row))):
            kept.append(row)
    return replace(case, page=tuple(kept))


def _make_rows(random: Random) -> tuple[tuple[Any, ...], ...]:
    """At most three rows a timestamp; values come in runs, which a rule may or may not cut."""
    share, made = random.choice([0.2, 0.5, 0.9]), []
    names = random.choice(["ab", "abcdef"])
    for ts in range(random.randint(1, MARKERS)):
        for _ in range(3):
            if random.random() < share / 2:
                # some values pass by, as sessions do
                near = random.choice([chr(ord("a") + ts // 4), random.choice(names), None])
                kind, cost = random.randint(0, 2), random.randint(-3, 3)
                made.append((near, kind, cost, random.random() < 0.2, ts))
    return tuple(made)


def _number(rows: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    """Rows with numbers in the place of letters."""
    return tuple((None if k is None else ord(k) - 97, *rest) for k, *rest in rows)


def find_order_end(rule: ClosingRule, value: int, rows: Sequence[tuple[Any, ...]]) -> int | None:
    """The first step at whose end a value is closed by greater ones."""
    for step in sorted({r[4] for r in rows}):
        if rule.slack is not None:
            if max(r[0] for r in rows if r[4] <= step) > value + rule.slack:
                return int(step)
            continue
        assert rule.late_rows is not None
        greater = [r[4] for r in rows if r[0] > value]
        if greater and sum(min(greater) < r[4] <= step for r in rows) > rule.late_rows:
            return int(step)
    return None


def _list_order_ends(
    rule: ClosingRule, times: list[int], closed: int | None, wait: int
) -> list[int]:
    found: list[int] = []
    for time in times if closed is not None else ():
        assert closed is not None
        if not found:
            found.append(max(closed, time) + wait)
        elif time > found[-1]:
            found.append(time + wait)
    return found


def list_ends(case: ClosingCase, value: Any, upto: int) -> list[int]:
    """When groups of a value are final, by rows that are not later than a time: the definition,
    step by step."""
    rule, wait = case.rule, case.wait or 0
    rows = [r for r in case.page if r[4] <= upto and r[0] is not None]
    mine = sorted(r[4] for r in rows if r[0] == value and (rule.ends is None or r[3]))
    found: list[int] = []
    if rule.ends is not None:
        for time in mine:
            if not found or time > found[-1]:
                found.append(time + wait)
        return [f for f in found if f <= upto]
    if rule.span_us is not None:
        return [f for f in _list_spans(mine, rule.span_us, wait) if f <= upto]
    if rule.is_order:
        closed = find_order_end(rule, value, rows)
        return [f for f in _list_order_ends(rule, mine, closed, wait) if f <= upto]
    for time, following in pairwise([*mine, NEVER]):
        if rule.gap_us is not None:
            final = time + rule.gap_us + wait
        else:
            assert rule.rows is not None
            steps = [
                s
                for s in sorted({r[4] for r in rows})
                if sum(time < r[4] <= s for r in rows) > rule.rows
            ]
            final = steps[0] + wait if steps else NEVER
        if final < following and final <= upto:
            found.append(final)
    return found


def _list_spans(times: list[int], span: int, wait: int) -> list[int]:
    found: list[int] = []
    for time in times:
        if not found or time > found[-1]:
            found.append(time + span + wait)
        found[-1] = max(found[-1], time + wait)
    return found


def evaluate(case: ClosingCase, upto: int) -> Iterator[tuple[Any, ...]]:
    """The rows of groups that are final once a time is over: (group, aggregates, at); of a set,
    those that are found, when they first are."""
    if not case.shown:
        yield from _list_found(case, upto)
        return
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row, time in _list_matches(case, upto):
        ends = list_ends(case, row[0], upto)
        turn = sum(end < time for end in ends)
        if turn < len(ends):
            key = tuple(row[PAGE.index(name[2:])] for name in case.group)
            groups.setdefault((key, ends[turn]), []).append(row)
    for (key, at), rows in groups.items():
        if case.most is None or len(rows) <= case.most:
            yield (*key, *(_aggregate(text, rows) for _, text in case.shown), at)


def _list_found(case: ClosingCase, upto: int) -> Iterator[tuple[Any, ...]]:
    found: dict[tuple[Any, ...], int] = {}
    for row, time in _list_matches(case, upto):
        turn = sum(end < time for end in list_ends(case, row[0], upto))
        key = (*(row[PAGE.index(name[2:])] for name in case.group), turn)
        found[key] = min(time, found.get(key, time))
    for key, at in found.items():
        yield (*key[:-1], at)


def _list_matches(case: ClosingCase, upto: int) -> Iterator[tuple[tuple[Any, ...], int]]:
    for row in case.page:
        if row[0] is None or row[2] < case.where or row[4] > upto:
            continue
        if case.wait is None:
            yield row, row[4]
            continue
        for k, _, ts in case.buy:
            if k == row[0] and ts <= upto and row[4] - case.before <= ts <= row[4] + case.wait:
                yield row, max(ts, row[4])


def _aggregate(text: str, rows: list[tuple[Any, ...]]) -> Any:
    costs = [r[2] for r in rows]
    match text.split("(")[0]:
        case "SUM":
            return sum(costs)
        case "MIN":
            return min(costs)
        case "MAX":
            return max(costs)
        case _:
            return len(rows) if text == "COUNT(*)" else len({r[1] for r in rows})


def keeps_rule(case: ClosingCase) -> bool:
    """Whether the rows of page keep the rule, by its words."""
    rule = case.rule
    rows = [r for r in case.page if r[0] is not None]
    for value in {r[0] for r in rows}:
        times = sorted(r[4] for r in rows if r[0] == value)
        if rule.is_order:
            closed = find_order_end(rule, value, rows)
            if closed is not None and times[-1] > closed:
                return False
            continue
        if rule.ends is not None:
            ends = [r[4] for r in rows if r[0] == value and r[3]]
            if ends and times[-1] > min(ends):
                return False
            continue
        if rule.of_key and len(times) > 1:
            return False
        if rule.span_us is not None and times[-1] - times[0] > rule.span_us:
            return False
        for first, second in pairwise(times):
            if rule.gap_us is not None and second - first > rule.gap_us:
                return False
            between = sum(first < r[4] < second for r in rows)
            if rule.rows is not None and between > rule.rows:
                return False
    return True
