"""Random queries of the project of ward.py: those of random_parcels.py in other words, by patient
or by ward, with SELECTs inside that hide times, VALUES, and groups of groups."""

from random import Random

from tests.sparql_counts.random_parcels import Drawn, QueryDrawer

_PATIENT = (
    ("?s{n} :of {key}", ""),
    ("?s{n} a :Sign ; :of {key}", ""),
    ("?s{n} a :Event ; :of {key} ; :amount ?w{n}", "?w{n}"),
    ("?s{n} a :Heat ; :of {key} ; :val ?w{n}", "?w{n}"),
    ("?s{n} :of {key} ; :mg ?w{n}", "?w{n}"),
    ("{key} :inWard ?k{n}", ""),
    ("?k{n} :hosts {key} . {key} :inBed ?b{n}", ""),
)
_WARD = (
    ("?s{n} :inWard {key}", ""),
    ("{key} :hosts ?s{n}", ""),
    ("?s{n} :inWard {key} ; :inBed ?b{n}", ""),
    ("?s{n} :inWard {key} . ?o{n} :of ?s{n} ; :val ?w{n}", "?w{n}"),
)
_LATEST = {
    True: (
        ("?d :inWard ?k{n}", "?d :inWard ?x{n}", ""),
        ("?s{n} a :Heat ; :of ?d ; :val ?w{n}", "?o{n} a :Heat ; :of ?d ; :val ?x{n}", "?w{n}"),
        ("?s{n} a :Dose ; :of ?d ; :mg ?w{n}", "?o{n} a :Dose ; :of ?d ; :mg ?x{n}", "?w{n}"),
        ("?s{n} :of ?d ; :amount ?w{n}", "?o{n} :of ?d ; :amount ?x{n}", "?w{n}"),
    ),
    False: (("?s{n} :inWard ?d", "?s{n} :inWard ?x{n}", ""),),
}
_STATIC = {
    True: (
        ("?d a :Patient .", ""),
        ("?d a :Person .", ""),
        ("?d :age ?c{n} .", "?c{n}"),
        ("?d :treatedBy ?i{n} .", ""),
        ("?i{n} :treats ?d .", ""),
        ("VALUES ?d {{ <http://e/p/p> <http://e/p/q> }}", ""),
    ),
    False: (
        ("?d a :Ward .", ""),
        ("?d a :Icu .", ""),
        ("?d :floor ?c{n} .", "?c{n}"),
        ("?i{n} :standsIn ?d ; :cost ?c{n} .", "?c{n}"),
        ("VALUES ?d {{ <http://e/w/K> <http://e/w/L> }}", ""),
    ),
}


class WardDrawer(QueryDrawer):
    """Draws a query of patients, or of wards."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.of_patients = random.random() < 0.7

    def draw_triples(self, n: int, key: str = "?d") -> tuple[str, str]:
        """Triples of one row of a key."""
        text, number = self.random.choice(_PATIENT if self.of_patients else _WARD)
        return text.format(n=n, key=key), number.format(n=n)

    def draw_latest(self) -> Drawn:
        """The latest row of each patient."""
        n = self.next()
        row, later, number = (
            part.format(n=n) for part in self.random.choice(_LATEST[self.of_patients])
        )
        text = (
            f"GRAPH ?t{n} {{ {row} }} FILTER NOT EXISTS {{ GRAPH ?u{n} {{ {later} }} "
            f"FILTER(?u{n} > ?t{n}) }}"
        )
        return Drawn(text, [number] if number else [])

    def draw_static(self) -> Drawn:
        """What is registered of a patient, or ward."""
        n = self.next()
        text, number = self.random.choice(_STATIC[self.of_patients])
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
        if shape < 0.92:
            row = self.draw_rows()
            once = self.random.choice(["", "DISTINCT "])
            names = ["?d", *row.sure]
            return Drawn(f"{{ SELECT {once}{' '.join(names)} {{ {row.text} }} }}", row.sure)
        most = f"?a{self.next()}"
        hidden = groups.replace("?d", f"?y{self.number}")
        total = f"{{ SELECT (MAX({name}) AS {most}) {{ {{ {hidden} }} }} }}"
        other = self.draw_rows()
        return Drawn(f"{other.text} {total}", [*other.sure, most])
