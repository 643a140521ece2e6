"""Queries of any shape over two streams and a static relation, most of them not monotone: joins and
outer joins, self-joins, windows, negated parts, nested and several, NOT IN, groups and HAVING."""

from dataclasses import dataclass, field
from random import Random

HELD = {"s": "abgh", "t": "abgh", "r": "hag"}
Around = list[tuple[str, str]]
"""Aliases, with the table of each."""


def us(number: int) -> str:
    """A time of so many µs."""
    return f"INTERVAL '{number}' MICROSECOND"


def _after(time: str, number: int) -> str:
    return f"{time} {'+' if number >= 0 else '-'} {us(abs(number))}"


def _columns(around: Around) -> list[str]:
    return [f"{a}.{c}" for a, t in around for c in HELD[t]]


def _timed(around: Around) -> list[str]:
    return [a for a, t in around if t != "r"]


@dataclass
class FreeShapes:
    """Draws a query. `windows`: its rows are in windows; `number`: of aliases so far."""

    random: Random
    windows: bool = False
    number: int = 0
    optional: list[str] = field(default_factory=list)
    latest: bool = False
    """Rows that later ones of their key replace, and the first n of each, are among what is drawn,
    beside what must not be there."""

    def draw(self) -> tuple[str, tuple[str, ...]]:
        """A query, and the names of its columns."""
        random = self.random
        self.windows = random.random() < 0.4
        around: Around = [("x", random.choice(["s", "s", "s", "t", "t", "r"]))]
        source, kind = f"{around[0][1]} AS x", random.random()
        if self.latest and around[0][1] != "r" and random.random() < 0.5:
            source = f"({self._first(around[0][1])}) AS x"
        if kind < 0.3:
            source += self._join(around)
        elif kind < 0.6:
            source += "".join(self._outer(around) for _ in range(random.choice([1, 1, 2])))
        base = [a for a in around if a[0] not in self.optional]
        said = [self._window(a) for a in _timed(base) if self.windows and random.random() < 0.9]
        if random.random() < 0.2:
            said.append(random.choice(["x.a > 0", "x.h = 1", "x.g = 'x'", "x.h IN (0, 2)"]))
        few = 0 if self.optional and random.random() < 0.6 else random.choice([1, 1, 1, 2, 3])
        parts = around if random.random() < 0.2 else base
        said += [self._part(parts) for _ in range(few)]
        if self.optional and random.random() < 0.25:
            one = self.optional[0]
            said.append(random.choice([f"{one}.h IS NULL", f"{one}.h = 1", f"{one}.a > -2"]))
        where = f" WHERE {' AND '.join(said)}" if said else ""
        if self.latest and around[0][1] != "r" and not self.optional and random.random() < 0.4:
            numbered = f" QUALIFY {self._number('x.')}"
            names = ("c0", "c1")
            return f"SELECT x.h AS c0, x.a AS c1 FROM {source}{where}{numbered}", names
        return self._show(around, source + where)

    def _number(self, of: str = "") -> str:
        """Which of the rows of a key are chosen."""
        random = self.random
        key = random.choice(["h", "g", "h", "a"])
        order = random.choice([f"{of}ts DESC", f"{of}ts DESC", f"{of}a DESC", f"{of}b", f"{of}ts"])
        nulls = "" if "ts" in order else " NULLS LAST"
        call = random.choice(["RANK()", "RANK()", "DENSE_RANK()"])
        window = f"(PARTITION BY {of}{key} ORDER BY {order}{nulls})"
        return f"{call} OVER {window} <= {random.choice([1, 1, 1, 2])}"

    def _first(self, table: str) -> str:
        """The latest rows of each key of a table, or the first ones."""
        random, said = self.random, []
        if self.windows and random.random() < 0.5:
            said.append(self._window("v"))
        if random.random() < 0.3:
            said.append(self._part([("v", table)], 1))
        where = f" WHERE {' AND '.join(said)}" if said else ""
        return f"SELECT * FROM {table} AS v{where} QUALIFY {self._number('v.')}"

    def _show(self, around: Around, rest: str) -> tuple[str, tuple[str, ...]]:
        random, columns = self.random, _columns(around)
        if random.random() < 0.55:
            shown = random.sample(columns, k=random.randint(1, 3))
            shown += [f"COALESCE({self.optional[0]}.a, 7)"] if self.optional else []
            shown += ["x.ts"] if around[0][1] != "r" and random.random() < 0.15 else []
            once = random.random() < 0.35
            names = tuple(f"c{n}" for n in range(len(shown)))
            listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
            text = f"SELECT {'DISTINCT ' if once else ''}{listed} FROM {rest}"
            if once or random.random() > 0.15:
                return text, names
            return f"SELECT c0, COUNT(*) AS n FROM ({text}) AS w GROUP BY c0", ("c0", "n")
        group = random.sample(columns, k=random.choice([0, 1, 1, 1, 2]))
        numbers = [c for c in columns if c[-1] in "ah"]
        calls = ["COUNT(", "COUNT(DISTINCT ", "SUM(", "MIN(", "MAX("]
        made = [f"{f}{c})" for f in calls for c in numbers]
        asked = random.sample(["COUNT(*)", *made], k=random.choice([1, 1, 2]))
        names = tuple(f"c{n}" for n in range(len(group) + len(asked)))
        listed = ", ".join(f"{c} AS {n}" for c, n in zip([*group, *asked], names, strict=True))
        by = f" GROUP BY {', '.join(group)}" if group else ""
        if random.random() < 0.3:
            by += f" HAVING {random.choice(['COUNT(*) > 1', 'COUNT(*) < 3', asked[0] + ' > 1'])}"
        return f"SELECT {listed} FROM {rest}{by}", names

    def _join(self, around: Around) -> str:
        table = self.random.choice(["s", "t", "t", "r"])
        on = self._ties("y", table, around, self.random.choice([0, 1, 1, 2]))
        on += self._times("y", table, around) if self.random.random() < 0.8 else []
        around.append(("y", table))
        return f" JOIN {table} AS y ON {' AND '.join(on) or 'TRUE'}"

    def _outer(self, around: Around) -> str:
        alias, table = self._name(), self.random.choice(["s", "t", "t", "r"])
        on = self._ties(alias, table, around, self.random.choice([1, 1, 2]))
        on += self._times(alias, table, around)
        if self.windows and table != "r" and self.random.random() < 0.7:
            on.append(self._window(alias))
        around.append((alias, table))
        self.optional.append(alias)
        return f" LEFT JOIN {table} AS {alias} ON {' AND '.join(on)}"

    def _part(self, around: Around, depth: int = 0) -> str:
        """What is, or is not, beside rows."""
        random = self.random
        alias, table = self._name(), random.choice(["s", "t", "t", "t", "r"])
        said = self._ties(alias, table, around, random.choice([0, 1, 1, 1, 2]))
        if self.windows and table != "r" and random.random() < 0.7:
            said.append(self._window(alias))
        else:
            said += self._times(alias, table, around)
        inner, rows = [(alias, table)], f"{table} AS {alias}"
        if table != "r" and random.random() < 0.2:
            other, of = self._name(), random.choice("str")
            on = self._ties(other, of, inner, 1) + self._times(other, of, inner)
            rows += f" JOIN {of} AS {other} ON {' AND '.join(on)}"
            said += [self._window(other)] if self.windows and of != "r" else []
            inner.append((other, of))
        if depth == 0 and random.random() < 0.2:
            said.append(self._part([*around, *inner], 1))
        where = f" WHERE {' AND '.join(said)}" if said else ""
        if random.random() < 0.17:
            one, of = random.choice(around)
            column = random.choice([c for c in HELD[table] if c in HELD[of]])
            word = random.choice(["NOT IN", "NOT IN", "IN"])
            return f"{one}.{column} {word} (SELECT {alias}.{column} FROM {rows}{where})"
        word = random.choice(["NOT EXISTS", "NOT EXISTS", "NOT EXISTS", "EXISTS"])
        return f"{word} (SELECT 1 FROM {rows}{where})"

    def _ties(self, alias: str, table: str, around: Around, size: int) -> list[str]:
        random, made = self.random, []
        for _ in range(size):
            one, of = random.choice(around)
            column = random.choice([c for c in HELD[table] if c in HELD[of]])
            other = random.choice("ah") if column in "ah" and random.random() < 0.15 else column
            ops = ["=", "=", "=", "=", "<", ">=", "<>"] if column != "g" else ["=", "=", "<>"]
            made.append(f"{alias}.{column} {random.choice(ops)} {one}.{other}")
        return made

    def _times(self, alias: str, table: str, around: Around) -> list[str]:
        """When a row is, beside those around it."""
        random, timed = self.random, _timed(around)
        if table == "r" or not timed:
            return []
        one, mine, far = f"{random.choice(timed)}.ts", f"{alias}.ts", random.randint(1, 4)
        lower, upper = random.choice(["<", "<="]), random.choice([">", ">="])
        kinds = [
            [f"{mine} {lower} {one}"],
            [f"{mine} {lower} {one}"],
            [f"{mine} {upper} {one}", f"{mine} {lower} {_after(one, far)}"],
            [f"{mine} {upper} {one}", f"{mine} {lower} {_after(one, far)}"],
            [f"{mine} >= {_after(one, -far)}", f"{mine} {lower} {one}"],
            [f"{mine} > {timed[0]}.ts", f"{mine} < {timed[-1]}.ts"],
            [f"{mine} = {one}"],
            [f"{mine} {upper} {one}"],
        ]
        return random.choice(kinds)

    def _window(self, alias: str) -> str:
        shown = f"{alias}.ts > NOW() - {us(self.random.randint(1, 5))}"
        if self.random.random() < 0.1:
            return f"{alias}.ts <= NOW() - {us(1)} AND {alias}.ts > NOW() - {us(5)}"
        return shown

    def _name(self) -> str:
        self.number += 1
        return f"p{self.number}"
