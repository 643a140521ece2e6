"""Random queries of the project of ward.py: those of random_parcels.py in other words, by patient
or by ward, with SELECTs inside that hide times, VALUES, and groups of groups."""

from random import Random

from tests.sparql_counts.draw_listed import ListedDrawer

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


class WardDrawer(ListedDrawer):
    """Draws a query of patients, or of wards."""

    def __init__(self, random: Random) -> None:
        of_patients = random.random() < 0.7
        triples = _PATIENT if of_patients else _WARD
        super().__init__(random, triples, _LATEST[of_patients], _STATIC[of_patients], totals=True)
