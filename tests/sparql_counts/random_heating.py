"""Random queries of the project of heating.py: those of random_parcels.py in other words, by
station, meter, or zone, with windows from half a second to a day, days, languages and dates."""

from random import Random

from tests.sparql_counts.draw_listed import ListedDrawer

_SPANS = ("PT0.5S", "PT1M", "PT2M", "PT3M", "PT1H", "P1D")
_TRIPLES = {
    "station": (
        ("?s{n} :at {key} ; :deg ?w{n}", "?w{n}"),
        ("?s{n} a :Supply ; :at {key} ; :amount ?w{n}", "?w{n}"),
        ("?s{n} a :Valve ; :at {key} ; :state ?k{n}", ""),
        ("?s{n} :at {key} ; :state :Open", ""),
        ("?s{n} a :Sign ; :about {key}", ""),
        ("?s{n} :at {key} ; :note ?k{n}", ""),
        ('?s{n} :at {key} ; :note "kalt"@de', ""),
    ),
    "meter": (
        ("?s{n} a :Flow ; :of {key} ; :litres ?w{n}", "?w{n}"),
        ("?s{n} a :HotFlow ; :of {key}", ""),
        ("?s{n} :of {key} ; :hot true", ""),
        ("?s{n} :about {key} ; :amount ?w{n}", "?w{n}"),
        ("?s{n} a :Bill ; :of {key} ; :kwh ?w{n}", "?w{n}"),
        ("?s{n} :of {key} ; :due ?k{n} ; :paid false", ""),
        ("?s{n} :of {key} ; :sensor ?k{n}", ""),
    ),
    "zone": (
        ("?s{n} :of/:fedBy/:inZone {key} ; :litres ?w{n}", "?w{n}"),
        ("?s{n} :at/:inZone {key} ; :deg ?w{n}", "?w{n}"),
        ("?s{n} :at ?y{n} ; :open ?k{n} . ?y{n} :inZone {key}", ""),
        ("{key} :hasZone ?y{n} . ?y{n} :feeds ?k{n} . ?s{n} :of ?k{n} ; a :HotFlow", ""),
    ),
}
_LATEST = {
    "station": (
        ("?s{n} a :Supply ; :at ?d ; :deg ?w{n}", "?o{n} a :Supply ; :at ?d ; :deg ?x{n}", "?w{n}"),
        ("?s{n} :at ?d ; :state ?k{n}", "?o{n} :at ?d ; :state ?x{n}", ""),
        ("?s{n} :at ?d ; :state :Open", "?s{n} :state ?x{n}", ""),
    ),
    "meter": (
        ("?s{n} :of ?d ; :litres ?w{n}", "?o{n} :of ?d ; :litres ?x{n}", "?w{n}"),
        ("?s{n} a :Bill ; :of ?d ; :kwh ?w{n}", "?o{n} a :Bill ; :of ?d ; :kwh ?x{n}", "?w{n}"),
        ("?s{n} :of ?d ; :hot ?k{n}", "?o{n} :of ?d ; :hot ?x{n}", ""),
        ("?s{n} :about ?d ; :amount ?w{n}", "?o{n} :about ?d ; :amount ?x{n}", "?w{n}"),
    ),
    "zone": (("?s{n} :at ?d", "?s{n} :at ?x{n}", ""),),
}
_STATIC = {
    "station": (
        ("?d :inZone ?i{n} .", ""),
        ("?i{n} :hasZone ?d .", ""),
        ("?d a :Pump .", ""),
        ('?d :built ?b{n} . FILTER(?b{n} > "2020-01-01"^^xsd:date)', ""),
        ('?d :name ?i{n} . FILTER(LANG(?i{n}) = "de")', ""),
        ("?i{n} :fedBy ?d ; :size ?c{n} .", "?c{n}"),
        ("VALUES ?d {{ <http://e/s/a/1> <http://e/s/b/2> }}", ""),
    ),
    "meter": (
        ("?d a :Meter .", ""),
        ("?d :size ?c{n} .", "?c{n}"),
        ("?d :owner ?i{n} .", ""),
        ("?d :fedBy/:inZone ?i{n} .", ""),
        ("?i{n} :feeds ?d .", ""),
        ("VALUES ?d {{ <http://e/m/m> <http://e/m/n> }}", ""),
    ),
    "zone": (
        ("?d a :Zone .", ""),
        ("?i{n} :inZone ?d .", ""),
        ("VALUES ?d {{ <http://e/z/X> <http://e/z/Y> }}", ""),
    ),
}


class HeatingDrawer(ListedDrawer):
    """Draws a query of stations, meters or zones."""

    def __init__(self, random: Random) -> None:
        of = random.choice(["station", "station", "meter", "meter", "zone"])
        super().__init__(random, _TRIPLES[of], _LATEST[of], _STATIC[of])

    def draw_window(self, time: str) -> str:
        """A FILTER of a time."""
        long = f'"{self.random.choice(_SPANS[1:])}"^^xsd:dayTimeDuration'
        if self.random.random() < 0.1:
            short = f'"{_SPANS[0]}"^^xsd:dayTimeDuration'
            return f"FILTER({time} > NOW() - {long} && {time} <= NOW() - {short})"
        return f"FILTER({time} > NOW() - {long})"


def draw_final(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query whose answers are final: rows beside later or earlier ones, and buckets of time."""
    drawer = HeatingDrawer(random)
    first, number = drawer.draw_triples(1)
    other, _ = drawer.draw_triples(2)
    span = random.choice(_SPANS)
    said = random.choice(
        [
            f'?t2 >= ?t1 && ?t2 <= ?t1 + "{span}"^^xsd:dayTimeDuration',
            f'?t2 > ?t1 && ?t2 - ?t1 < "{span}"^^xsd:dayTimeDuration',
            f'?t2 < ?t1 && ?t1 - ?t2 <= "{span}"^^xsd:dayTimeDuration',
            "?t2 < ?t1",
        ]
    )
    clause = random.choice(["OPTIONAL", "FILTER NOT EXISTS", "FILTER EXISTS", "MINUS", ""])
    beside = f"{{ GRAPH ?t2 {{ {other} }} FILTER({said}) }}"
    if clause == "":
        beside = f"GRAPH ?t2 {{ {other} }} FILTER({said})"
    if clause == "MINUS":
        beside = f"{{ GRAPH ?t1 {{ {other} }} }}"
    text = f"GRAPH ?t1 {{ {first} }} {clause} {beside}"
    static = drawer.draw_static().text if random.random() < 0.5 else ""
    text = f"{static} {text}"
    if random.random() < 0.5:
        shown = ["?d", *([number] if number and random.random() < 0.6 else [])]
        distinct = random.choice(["", "DISTINCT "])
        return f"SELECT {distinct}{' '.join(shown)} {{ {text} }}", tuple(n[1:] for n in shown)
    calls = ["COUNT(*)"] + [f"{c}({number})" for c in ("SUM", "MAX", "AVG") if number]
    call, day = random.choice(calls), random.choice(["PT1M", "PT1H", "P1D"])
    keyed = "?d " if random.random() < 0.7 else ""
    bucket = f'(ow:tumble(?t1, "{day}"^^xsd:dayTimeDuration) AS ?h)'
    having = " HAVING (COUNT(*) > 1)" if random.random() < 0.2 else ""
    names = ("h", *(["d"] if keyed else []), "z")
    return f"SELECT ?h {keyed}({call} AS ?z) {{ {text} }} GROUP BY {keyed}{bucket}{having}", names
