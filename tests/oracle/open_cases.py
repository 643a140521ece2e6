"""Random joins of rows of one stream by values that a rule closes, and their answers by
definition: rows are joined that came in one turn of their value, while it was open."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

from tests.oracle.closing_cases import PAGE, ClosingCase, list_ends, make_closing_case

_ALIASES = "abc"
_TIMES = {
    "{0}.ts < {1}.ts": lambda x, y: x < y,
    "{0}.ts <= {1}.ts": lambda x, y: x <= y,
    "{1}.ts <= {0}.ts + INTERVAL '4' MICROSECOND": lambda x, y: y <= x + 4,
    "{0}.ts + INTERVAL '3' MICROSECOND <= {1}.ts": lambda x, y: x + 3 <= y,
    "{0}.ts <> {1}.ts": lambda x, y: x != y,
}
_VALUES = {
    "{0}.cost < {1}.cost": lambda x, y: x[2] < y[2],
    "{0}.cost <> {1}.cost": lambda x, y: x[2] != y[2],
    "{0}.kind <= {1}.kind": lambda x, y: x[1] <= y[1],
    "{0}.cost = {1}.cost": lambda x, y: x[2] == y[2],
}


@dataclass(frozen=True)
class OpenCase:
    """A join of so many occurrences of page by `k`, one after the other.

    `base`: the rule, and rows; `buys`: buy is joined with the first occurrence by kind, from its
    time on, for so many steps (None: it is not); `conditions`: of two occurrences, by their
    numbers; `least`: of an occurrence, the least cost; `shown`: columns of occurrences; `grouped`:
    instead of the first one, each group's number of matches and sum of the second.
    """

    base: ClosingCase
    several: int
    buys: int | None
    conditions: tuple[tuple[str, int, int], ...]
    least: tuple[int, ...]
    shown: tuple[tuple[int, str], ...]
    distinct: bool
    grouped: bool

    @property
    def sql(self) -> str:
        shown = [f"{_ALIASES[i]}.{name}" for i, name in self.shown]
        tables = [f"page {_ALIASES[i]}" for i in range(self.several)]
        where = [f"a.k = {_ALIASES[i]}.k" for i in range(1, self.several)]
        where += [c.format(_ALIASES[i], _ALIASES[j]) for c, i, j in self.conditions]
        where += [f"{_ALIASES[i]}.cost >= {n}" for i, n in enumerate(self.least) if n > -3]
        if self.buys is not None:
            tables.append("buy d")
            span = f" + INTERVAL '{self.buys}' MICROSECOND" if self.buys else ""
            where += ["d.kind = a.kind", "a.ts <= d.ts", f"d.ts <= a.ts{span}"]
        source = f"FROM {', '.join(tables)} WHERE {' AND '.join(where)}"
        if self.grouped:
            return (
                f"SELECT {shown[0]}, COUNT(*) AS n, SUM({shown[-1]}) AS s {source} "
                f"GROUP BY {shown[0]}"
            )
        named = ", ".join(f"{text} AS x{n}" for n, text in enumerate(shown))
        return f"SELECT {'DISTINCT ' * self.distinct}{named} {source}"

    def matches(self, upto: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        """What is shown of each match, and its time."""
        rows = [r for r in self.base.page if r[0] is not None and r[4] <= upto]
        ends = {k: list_ends(self.base, k, upto) for k in {r[0] for r in rows}}
        turns = [(r, sum(end < r[4] for end in ends[r[0]])) for r in rows]
        for match in product(turns, repeat=self.several):
            if len({(r[0], turn) for r, turn in match}) > 1:
                continue
            one = [r for r, _ in match]
            if any(r[2] < n for r, n in zip(one, self.least, strict=True)):
                continue
            if not all(_holds(c, one[i], one[j]) for c, i, j in self.conditions):
                continue
            told, time = tuple(one[i][PAGE.index(name)] for i, name in self.shown), 0
            for later in self._buys(one[0], upto):
                time = max([later, *(r[4] for r in one)])
                yield told, time

    def _buys(self, row: tuple[Any, ...], upto: int) -> list[int]:
        if self.buys is None:
            return [row[4]]
        found = (b for b in self.base.buy if b[0] is not None or b[1] is not None)
        return [t for _, kind, t in found if kind == row[1] and row[4] <= t <= upto
                and t <= row[4] + self.buys]  # fmt: skip

    def answers(self, upto: int) -> Counter[tuple[Any, ...]]:
        """All answers up to a time, each with its own; of groups, their last rows."""
        found = list(self.matches(upto))
        if self.grouped:
            groups: dict[Any, list[Any]] = {}
            for told, _ in found:
                groups.setdefault(told[0], []).append(told[-1])
            if self.shown[0][1] == "k":  # final when it is closed, and nothing joins it any more
                ends = {k: list_ends(self.base, k, upto) for k in groups}
                last = upto - (self.buys or 0)
                groups = {k: of for k, of in groups.items() if min(ends[k], default=upto) <= last}
                groups = {k: of for k, of in groups.items() if ends[k]}
            return Counter((g, len(of), sum(of)) for g, of in groups.items())
        if not self.distinct:
            return Counter((*told, time) for told, time in found)
        first: dict[Any, int] = {}
        for told, time in found:
            first[told] = min(time, first.get(told, time))
        return Counter((*told, time) for told, time in first.items())


def _holds(condition: str, x: tuple[Any, ...], y: tuple[Any, ...]) -> bool:
    if condition in _TIMES:
        return bool(_TIMES[condition](x[4], y[4]))
    return bool(_VALUES[condition](x, y))


def make_open_case(random: Random) -> OpenCase:
    """A random case; its rows keep the rule, or do not."""
    base = make_closing_case(random)
    while base.rule.span_us is not None:
        base = make_closing_case(random)
    if random.random() < 0.5:
        most = max(Counter(r[0] for r in base.page).values(), default=1)
        base = replace(base, rule=replace(base.rule, most_rows=most))
    base = replace(base, wait=None)
    several = random.choice([2, 2, 2, 3])
    pairs = [(i, j) for i in range(several) for j in range(several) if i != j]
    conditions = tuple(
        (random.choice(list(_TIMES) + (list(_VALUES) if random.random() < 0.3 else [])), *pair)
        for pair in random.sample(pairs, k=random.choice([0, 0, 1, 1, 2]))
    )
    names = ["kind", "kind", "k", "cost"]
    shown = tuple(
        (random.randrange(several), random.choice(names)) for _ in range(random.choice([1, 1, 2]))
    )
    distinct = random.random() < 0.3
    grouped = not distinct and random.random() < 0.3
    if grouped:
        named = random.choice(["kind", "k"])
        shown = ((random.randrange(several), named), (random.randrange(several), "cost"))
    least = tuple(random.choice([-3, -3, 0]) for _ in range(several))
    buys = random.choice([None, None, None, 0, 2])
    return OpenCase(base, several, buys, conditions, least, shown, distinct, grouped)
