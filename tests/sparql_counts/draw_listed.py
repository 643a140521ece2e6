"""Draws queries of patterns that are listed, of one kind of key."""

from collections.abc import Sequence
from random import Random

from tests.sparql_counts.random_parcels import Drawn, QueryDrawer


class ListedDrawer(QueryDrawer):
    """Draws a query of rows of streams, the latest of each key, and what is registered.

    Args:
        random: draws.
        triples: of a row, with what a number in it is called.
        latest: of a row, of a later one of its key, and what a number is called.
        static: of what is registered, and what a number is called.
        totals: whether what holds of all groups is drawn, too.
    """

    def __init__(
        self,
        random: Random,
        triples: Sequence[tuple[str, str]],
        latest: Sequence[tuple[str, str, str]],
        static: Sequence[tuple[str, str]],
        *,
        totals: bool = False,
    ) -> None:
        super().__init__(random)
        self.triples, self.latest, self.static, self.totals = triples, latest, static, totals

    def draw_triples(self, n: int, key: str = "?d") -> tuple[str, str]:
        """Triples of one row of a key."""
        text, number = self.random.choice(self.triples)
        return text.format(n=n, key=key), number.format(n=n)

    def draw_latest(self) -> Drawn:
        """The latest row of each key."""
        n = self.next()
        parts = self.random.choice(self.latest)
        row, later, number = (part.format(n=n) for part in parts)
        text = (
            f"GRAPH ?t{n} {{ {row} }} FILTER NOT EXISTS {{ GRAPH ?u{n} {{ {later} }} "
            f"FILTER(?u{n} > ?t{n}) }}"
        )
        return Drawn(text, [number] if number else [])

    def draw_static(self) -> Drawn:
        """What is registered of a key."""
        n = self.next()
        text, number = self.random.choice(self.static)
        return Drawn(text.format(n=n), [number.format(n=n)] if number else [])

    def draw_group(self) -> Drawn:
        """Groups; now and then of several patterns, or the first of them."""
        shape = self.random.random()
        if shape < 0.6:
            return super().draw_group()
        name = f"?a{self.next()}"
        if shape < 0.75:
            inner = self.draw_body(1)
            call = self.draw_call(Drawn(inner.text, inner.sure))
            text = f"{{ SELECT ?d ({call} AS {name}) {{ {inner.text} }} GROUP BY ?d }}"
            return Drawn(text, [name])
        rows = self.draw_rows()
        groups = f"SELECT ?d ({self.draw_call(rows)} AS {name}) {{ {rows.text} }} GROUP BY ?d"
        if shape < 0.85:
            order = self.random.choice([f"DESC({name}) ?d", f"{name} ?d", "?d"])
            return Drawn(f"{{ {groups} ORDER BY {order} LIMIT 2 }}", [name])
        if shape < 0.92 or not self.totals:
            row = self.draw_rows()
            once = self.random.choice(["", "DISTINCT "])
            names = ["?d", *row.sure]
            return Drawn(f"{{ SELECT {once}{' '.join(names)} {{ {row.text} }} }}", row.sure)
        most = f"?a{self.next()}"
        hidden = groups.replace("?d", f"?y{self.number}")
        total = f"{{ SELECT (MAX({name}) AS {most}) {{ {{ {hidden} }} }} }}"
        other = self.draw_rows()
        return Drawn(f"{other.text} {total}", [*other.sure, most])
