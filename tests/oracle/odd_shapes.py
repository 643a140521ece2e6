"""Queries in which what is, or is not, beside rows is said in ways that free_shapes.py does not
draw: unions, groups, outer joins and sets inside of EXISTS, ALL and ANY, numbers of rows, OR and
CASE, IS NOT DISTINCT FROM, expressions of what is compared, and WITH."""

from dataclasses import dataclass

from tests.oracle.free_shapes import HELD, Around, FreeShapes

_ALL = ", ".join((*HELD["s"], "ts"))
_SETS = ["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"]


@dataclass
class OddShapes(FreeShapes):
    """Draws a query. `named`: rows of WITH."""

    named: str = ""

    def draw(self) -> tuple[str, tuple[str, ...]]:
        """A query, and the names of its columns."""
        text, names = super().draw()
        return self.named + text, names

    def _part(self, around: Around, depth: int = 0) -> str:
        drawn = self.random.random()
        if depth or drawn < 0.12:
            return super()._part(around, depth)
        if drawn < 0.3:
            return self._combine(around)
        kinds = [
            self._union,
            self._either_query,
            self._grouped,
            self._in_groups,
            self._outer_inside,
            self._quantified,
            self._numbered,
            self._strange_ties,
            self._with,
        ]
        return self.random.choice(kinds)(around)

    def _combine(self, around: Around) -> str:
        one, other = self._part(around, 1), self._part(around, 1)
        mine = self.random.choice(["x.a > 0", "x.h = 1", "x.g = 'x'", "x.a IS NULL"])
        return self.random.choice(
            [
                f"({one} OR {mine})",
                f"({one} OR {other})",
                f"NOT ({one} AND {other})",
                f"NOT ({one} OR {other})",
                f"CASE WHEN {one} THEN {mine} ELSE {other} END",
                f"({one}) = ({other})",
            ]
        )

    def _word(self) -> str:
        return self.random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])

    def _when(self, alias: str, table: str, around: Around) -> list[str]:
        if self.windows and table != "r" and self.random.random() < 0.7:
            return [self._window(alias)]
        return self._times(alias, table, around)

    def _said(self, alias: str, table: str, around: Around) -> str:
        few = self.random.choice([0, 1, 1, 1, 2])
        said = self._ties(alias, table, around, few) + self._when(alias, table, around)
        return " AND ".join(said) or "TRUE"

    def _union(self, around: Around) -> str:
        """Rows of a union of two streams."""
        alias, more = self._name(), self.random.choice(["", "", " WHERE a > -1", " WHERE h = 1"])
        both = f"SELECT {_ALL} FROM s{more} {self.random.choice(_SETS)} SELECT {_ALL} FROM t"
        said = self._said(alias, "t", around)
        return f"{self._word()} (SELECT 1 FROM ({both}) AS {alias} WHERE {said})"

    def _either_query(self, around: Around) -> str:
        parts = []
        for table in self.random.sample(["s", "t", "t", "r"], k=2):
            alias = self._name()
            parts.append(f"SELECT {alias}.h FROM {table} AS {alias} WHERE ")
            parts[-1] += self._said(alias, table, around)
        return f"{self._word()} ({f' {self.random.choice(_SETS)} '.join(parts)})"

    def _having(self, alias: str) -> str:
        asked = ["COUNT(*) > 1", "COUNT(*) < 3", f"MAX({alias}.a) > 0", f"SUM({alias}.h) > 1"]
        return self.random.choice(asked)

    def _grouped(self, around: Around) -> str:
        alias, table = self._name(), self.random.choice("stt")
        said, column = self._said(alias, table, around), self.random.choice("hga")
        return (
            f"{self._word()} (SELECT {alias}.{column} FROM {table} AS {alias} WHERE {said} "
            f"GROUP BY {alias}.{column} HAVING {self._having(alias)})"
        )

    def _in_groups(self, around: Around) -> str:
        alias, table, column = self._name(), self.random.choice("stt"), self.random.choice("hg")
        one = self.random.choice(around)[0]
        when = " AND ".join(self._when(alias, table, around)) or "TRUE"
        return (
            f"{one}.{column} {self.random.choice(['NOT IN', 'IN'])} (SELECT {alias}.{column} FROM "
            f"{table} AS {alias} WHERE {when} GROUP BY {alias}.{column} "
            f"HAVING {self._having(alias)})"
        )

    def _outer_inside(self, around: Around) -> str:
        alias, table = self._name(), self.random.choice("stt")
        other, of = self._name(), self.random.choice("strt")
        on = self._ties(other, of, [(alias, table)], 1)
        on += self._times(other, of, [(alias, table)])
        if self.windows and of != "r":
            on.append(self._window(other))
        asked = [f"{other}.h IS NULL", f"COALESCE({other}.a, 0) = x.a", f"{other}.a > -1", "TRUE"]
        return (
            f"{self._word()} (SELECT 1 FROM {table} AS {alias} LEFT JOIN {of} AS {other} ON "
            f"{' AND '.join(on)} WHERE {self._said(alias, table, around)} "
            f"AND {self.random.choice(asked)})"
        )

    def _quantified(self, around: Around) -> str:
        alias, table, column = self._name(), self.random.choice("stt"), self.random.choice("ah")
        one = self.random.choice(around)[0]
        op = self.random.choice([">", ">=", "<", "<>", "="])
        word = self.random.choice(["ALL", "ALL", "ANY"])
        said = self._said(alias, table, around)
        rows = f"SELECT {alias}.{column} FROM {table} AS {alias} WHERE {said}"
        return f"{one}.{column} {op} {word} ({rows})"

    def _numbered(self, around: Around) -> str:
        alias, table = self._name(), self.random.choice("sttr")
        rows = f"FROM {table} AS {alias} WHERE {self._said(alias, table, around)})"
        one = f"{self.random.choice(around)[0]}.a"
        asked = [
            f"(SELECT COUNT(*) {rows} = 0",
            f"(SELECT COUNT(*) {rows} = 0",
            f"(SELECT COUNT(*) {rows} > 1",
            f"(SELECT COUNT(*) {rows} < 2",
            f"(SELECT MAX({alias}.a) {rows} < {one}",
            f"{one} >= COALESCE((SELECT MIN({alias}.a) {rows}, 0)",
            f"(SELECT MAX({alias}.a) {rows} IS NULL",
            f"(SELECT COUNT(DISTINCT {alias}.h) {rows} = 1",
        ]
        return self.random.choice(asked)

    def _strange_ties(self, around: Around) -> str:
        alias, table = self._name(), self.random.choice("stt")
        one, of = self.random.choice(around)
        last = self.random.choice([a for a, _ in around])
        ties = [
            f"{alias}.h IS NOT DISTINCT FROM {one}.h",
            f"{alias}.g IS DISTINCT FROM {one}.g",
            f"{alias}.a + 1 = {one}.a",
            f"ABS({alias}.a) = ABS({one}.a)",
            f"({alias}.a = {one}.a OR {alias}.h = {last}.h)",
            f"{alias}.a BETWEEN {one}.a AND {last}.a",
            f"{alias}.a * {one}.h > 0",
            f"COALESCE({alias}.h, 1) = COALESCE({one}.h, 1)",
            f"{alias}.h = {one}.h AND {alias}.g = {one}.g",
            f"{alias}.a <= {one}.h AND {alias}.h = {one}.h",
            f"NOT ({alias}.a <> {one}.a)",
        ]
        said = [self.random.choice(ties), *self._when(alias, table, around)]
        if self.random.random() < 0.2 and of != "r":
            column = self.random.choice("ah")
            word = self.random.choice(["NOT IN", "IN"])
            rows = f"SELECT {alias}.{column} FROM {table} AS {alias} WHERE {' AND '.join(said)}"
            return f"{one}.{column} {word} ({rows})"
        return f"{self._word()} (SELECT 1 FROM {table} AS {alias} WHERE {' AND '.join(said)})"

    def _with(self, around: Around) -> str:
        alias, inner = self._name(), self.random.choice("st")
        table = self.random.choice("st")
        same, past = "y.h = x.h AND y.ts = x.ts", "WHERE y.h = x.h AND y.ts < x.ts"
        rows = [
            f"SELECT {_ALL} FROM {inner} WHERE a > -2",
            f"SELECT x.h, x.a, x.g, x.b, x.ts FROM {inner} AS x JOIN r ON r.h = x.h",
            f"SELECT DISTINCT {_ALL} FROM {inner}",
            f"SELECT x.h, y.a, x.g, x.b, x.ts FROM {inner} AS x JOIN {table} AS y ON {same}",
            f"SELECT {_ALL} FROM {inner} AS x WHERE NOT EXISTS (SELECT 1 FROM {table} AS y {past})",
        ]
        if not self.named:
            self.named = f"WITH named AS ({self.random.choice(rows)}) "
        said = self._said(alias, "t", around)
        return f"{self._word()} (SELECT 1 FROM named AS {alias} WHERE {said})"
