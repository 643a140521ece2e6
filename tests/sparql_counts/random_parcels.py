"""Random queries of the project of parcels.py: rows of windows, the latest of keys, groups, totals
and static patterns of one depot, joined, in OPTIONAL, NOT EXISTS, EXISTS, MINUS and UNION, nested,
with FILTERs, BINDs and groups around them."""

from dataclasses import dataclass, field
from random import Random

_DURATION = '"PT{}M"^^xsd:dayTimeDuration'


@dataclass
class Drawn:
    """A text of patterns; the variables of numbers that have a value in it, and that may have none;
    whether it binds ?d."""

    text: str
    sure: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    keyed: bool = True


class QueryDrawer:
    """Draws a query; `number` tells its variables apart."""

    def __init__(self, random: Random) -> None:
        self.random, self.number = random, 0

    def draw(self) -> tuple[str, tuple[str, ...]]:
        """A query without prefixes, and the names of its columns."""
        random = self.random
        body = self.draw_body(3)
        numbers = [*body.sure, *body.loose]
        if numbers and random.random() < 0.3:
            one, other = random.choice(numbers), random.choice(numbers)
            sign = random.choice(["<", ">=", "=", "!="])
            other = random.choice([other, "1", "2"])
            body.text += f" FILTER({one} {sign} {other})" if one != other else ""
        if body.sure and body.keyed and random.random() < 0.1:
            inner, no = self.draw_rows(), random.choice(["", "NOT "])
            said = f"{random.choice(body.sure)} > 1 || {no}EXISTS {{ {inner.text} }}"
            body.text += f" FILTER({said})"
        if numbers and random.random() < 0.2:
            one, other = random.choice(numbers), random.choice(numbers)
            value = random.choice([f"{one} + 1", f"COALESCE({one}, 7)", f"{one} - {other}"])
            body.text += f" BIND({value} AS ?b)"
            body.loose.append("?b")
            numbers.append("?b")
        keys = ["?d"] if body.keyed else []
        if random.random() < 0.45:
            calls = ["COUNT(*)", *(f"COUNT({n})" for n in numbers[-2:])]
            calls += [f"{c}({n})" for n in body.sure for c in ("SUM", "MAX", "MIN", "AVG")]
            calls += [f"COUNT(DISTINCT {n})" for n in body.sure]
            chosen = random.sample(calls, k=min(2, len(calls)))
            shown = [f"({call} AS ?z{n})" for n, call in enumerate(chosen)]
            group = keys if random.random() < 0.6 else []
            tail = f" GROUP BY {' '.join(group)}" if group else ""
            if group and random.random() < 0.2:
                tail += " HAVING (COUNT(*) > 1)"
            head = " ".join((*group, *shown))
            names = (*(k[1:] for k in group), *(f"z{n}" for n in range(len(chosen))))
            return f"SELECT {head} {{ {body.text} }}{tail}", names
        every = list(dict.fromkeys([*keys, *body.sure]))
        more = random.sample(numbers, k=min(len(numbers), random.randint(0, 3)))
        shown = list(dict.fromkeys([*every[:1], *more]))
        distinct = random.choice(["", "", "DISTINCT "])
        return f"SELECT {distinct}{' '.join(shown)} {{ {body.text} }}", tuple(n[1:] for n in shown)

    def draw_body(self, depth: int) -> Drawn:
        """Patterns that bind ?d, and clauses behind them."""
        random = self.random
        made = self.draw_unit(depth, keyed=True)
        while random.random() < 0.35:
            more = self.draw_unit(depth, keyed=random.random() < 0.8)
            made = Drawn(
                f"{made.text} {more.text}",
                [*made.sure, *more.sure],
                [*made.loose, *more.loose],
                made.keyed or more.keyed,
            )
        while depth and random.random() < 0.5:
            self.add_clause(made, depth - 1)
        return made

    def add_clause(self, made: Drawn, depth: int) -> None:
        """Put a clause behind patterns."""
        random = self.random
        several = random.random() < 0.4
        inner = self.draw_body(depth) if several else self.draw_unit(depth, keyed=True)
        kind = random.choice(
            ["OPTIONAL", "OPTIONAL", "FILTER NOT EXISTS", "FILTER EXISTS", "MINUS"]
        )
        said = ""
        if kind != "MINUS" and inner.sure and made.sure and random.random() < 0.35:
            sign = random.choice(["<", ">=", "=", "!="])
            said = f" FILTER({random.choice(inner.sure)} {sign} {random.choice(made.sure)})"
        elif inner.sure and random.random() < 0.3:
            said = f" FILTER({random.choice(inner.sure)} > 0)"
        made.text += f" {kind} {{ {inner.text}{said} }}"
        if kind == "OPTIONAL":
            made.loose += [*inner.sure, *inner.loose]

    def draw_unit(self, depth: int, *, keyed: bool) -> Drawn:
        """One pattern, subquery, or UNION."""
        random = self.random
        shape = random.random()
        if not keyed:
            return self.draw_total()
        if shape < 0.35:
            return self.draw_rows()
        if shape < 0.47:
            return self.draw_latest()
        if shape < 0.7:
            return self.draw_group()
        if shape < 0.82:
            return self.draw_static()
        if shape < 0.92 and depth:
            return self.draw_union(depth - 1)
        inner = self.draw_body(depth - 1) if depth else self.draw_rows()
        return Drawn(f"{{ {inner.text} }}", inner.sure, inner.loose, inner.keyed)

    def next(self) -> int:
        """A number for names."""
        self.number += 1
        return self.number

    def draw_triples(self, n: int, key: str = "?d") -> tuple[str, str]:
        """Triples of one row of a depot, and the variable of their number, if there is one."""
        ghost = " ; a :Ghost" if self.random.random() < 0.05 else ""
        return self.random.choice(
            [
                (f"?s{n} :at {key}{ghost}", ""),
                (f"?s{n} :at {key} ; :weight ?w{n}{ghost}", f"?w{n}"),
                (f"?s{n} :at {key} ; a :BadScan{ghost}", ""),
                (f"{key} :temp ?w{n}{ghost}", f"?w{n}"),
                (f"?s{n} :in {key}{ghost}", ""),
                (f"?s{n} :in {key} ; :load ?w{n}{ghost}", f"?w{n}"),
            ]
        )

    def draw_rows(self, key: str = "?d", *, all_so_far: float = 0) -> Drawn:
        """Rows of a window; `all_so_far`: how often of none."""
        n = self.next()
        triples, number = self.draw_triples(n, key)
        window = self.draw_window(f"?t{n}") if self.random.random() >= all_so_far else ""
        return Drawn(f"GRAPH ?t{n} {{ {triples} }} {window}", [number] if number else [])

    def draw_window(self, time: str) -> str:
        """A FILTER of a time."""
        long = _DURATION.format(self.random.choice([10, 20, 30]))
        if self.random.random() < 0.1:
            short = _DURATION.format(5)
            return f"FILTER({time} > NOW() - {long} && {time} <= NOW() - {short})"
        return f"FILTER({time} > NOW() - {long})"

    def draw_latest(self) -> Drawn:
        """The latest row of each depot, or of each parcel."""
        n = self.next()
        row, later, number = self.random.choice(
            [
                (f"?d :temp ?w{n}", f"?d :temp ?x{n}", f"?w{n}"),
                (f"?s{n} :at ?d", f"?s{n} :at ?e{n}", ""),
            ]
        )
        text = (
            f"GRAPH ?t{n} {{ {row} }} FILTER NOT EXISTS {{ GRAPH ?u{n} {{ {later} }} "
            f"FILTER(?u{n} > ?t{n}) }}"
        )
        return Drawn(text, [number] if number else [])

    def draw_call(self, rows: Drawn) -> str:
        """An aggregate of rows."""
        calls = ["COUNT(*)"]
        for number in rows.sure:
            calls += [f"{c}({number})" for c in ("SUM", "MAX", "MIN", "AVG", "COUNT")]
            calls.append(f"COUNT(DISTINCT {number})")
        return self.random.choice(calls)

    def draw_group(self) -> Drawn:
        """Groups by depots."""
        rows, name = self.draw_rows(all_so_far=0.2), f"?a{self.next()}"
        call = self.draw_call(rows)
        if self.random.random() < 0.15:
            text = f"{{ SELECT DISTINCT ?d {{ {rows.text} }} }}"
            return Drawn(text)
        having = " HAVING (COUNT(*) > 1)" if self.random.random() < 0.2 else ""
        text = f"{{ SELECT ?d ({call} AS {name}) {{ {rows.text} }} GROUP BY ?d{having} }}"
        return Drawn(text, [name])

    def draw_total(self) -> Drawn:
        """What is told of all rows: names are its own, as rdflib puts values of others in."""
        n = self.next()
        rows, name = self.draw_rows(f"?y{n}", all_so_far=0.2), f"?a{n}"
        calls = ["COUNT(*)", *(f"{c}({v})" for v in rows.sure for c in ("SUM", "COUNT"))]
        call = self.random.choice(calls)
        return Drawn(f"{{ SELECT ({call} AS {name}) {{ {rows.text} }} }}", [name], keyed=False)

    def draw_static(self) -> Drawn:
        """What is registered of a depot."""
        n = self.next()
        return self.random.choice(
            [
                Drawn("?d a :Depot ."),
                Drawn("?d a :Cold ."),
                Drawn(f"?d :cap ?c{n} .", [f"?c{n}"]),
                Drawn(f"?d :city ?i{n} ."),
            ]
        )

    def draw_union(self, depth: int) -> Drawn:
        """A UNION of rows, groups and others, which gives a number a name on each side."""
        sides = [self.draw_rows() if self.random.random() < 0.6 else self.draw_group()]
        sides += [self.draw_unit(depth, keyed=True) for _ in range(self.random.choice([1, 1, 2]))]
        shared = f"?v{self.next()}"
        if all(side.sure for side in sides):
            texts = [_rename(side.text, side.sure[0], shared) for side in sides]
            return Drawn(" UNION ".join(f"{{ {text} }}" for text in texts), [shared])
        return Drawn(" UNION ".join(f"{{ {side.text} }}" for side in sides))


def _rename(text: str, name: str, other: str) -> str:
    """A text in which a variable has another name."""
    return " ".join(
        word.replace(name, other) if word.strip("(){}.;,") == name else word
        for word in text.replace("(", "( ").replace(")", " )").split()
    )
