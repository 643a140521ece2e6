"""FILTERs in which EXISTS is beside ||, && and !: the answers are rdflib's, of the same text, at
every time; under bag semantics each once, and where what is beside EXISTS is an error."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import Clause, make_text, run_seed

ERRORS = "VALUES ?k { 1 3 <http://e/1> } ?x :n ?n ."
"""?k < 2 is true, false, or an error."""


def make_choice(random: Random, number: int, time: str, *, inside: bool) -> Clause:
    """A FILTER of what is beside a row of a time; `inside`: of the GRAPH of the time."""
    made = _make_choice(random, number, time, inside=inside)
    return Clause(made.text) if inside else made


def _make_choice(random: Random, number: int, time: str, *, inside: bool) -> Clause:
    (e1, d1), (e2, d2) = (make_exists(random, f"{number}{k}", time, inside) for k in "ab")
    a = random.choice(
        ["?n > 1", "?n = 2", "?k < 2", "?k < 2", "ABS(?n - 2) < 2", "!(?n IN (1, 2))"]
    )
    match random.randrange(8):
        case 0:
            return Clause(f"FILTER({_shuffle(random, a, e1)})")
        case 1:
            return Clause(f"FILTER({_shuffle(random, a, f'!{e1}')})", (), f"({a}) || {d1}")
        case 2:
            return Clause(f"FILTER(!({a} && {e1}))", (), f"!({a}) || {d1}")
        case 3:
            both = f"({a} && {e1}) || (!({a}) && NOT {e1})"
            return Clause(f"FILTER({both})", (), f"({a}) || {d1}")
        case 4:
            return Clause(f"FILTER({e1} || {e2})", (), f"{e1} || {d1}", "")
        case 5:
            late = f"(!{e1} && {d1}) || ({e1} && {d2})"
            soon = f"(!{e1} && {d1}) || (!{e2} && {d2})"
            return Clause(f"FILTER(!{e1} || !({e2}))", (), late, soon)
        case 6:
            return Clause(
                f"FILTER(?n < 3 && ({a} || !({e1} || {e2})))", (), f"{a} || ({d1} && {d2})"
            )
        case _:
            return Clause(f"FILTER(!(!({a}) && !{e1}))")


def _shuffle(random: Random, a: str, b: str) -> str:
    return " || ".join(random.sample([f"({a})", b], 2))


def make_exists(random: Random, number: str, time: str, inside: bool) -> tuple[str, str]:
    """EXISTS, and when it is final that it is not."""
    value = f"?p{number}" if random.random() < 0.5 else str(random.randint(0, 3))
    if inside:
        return f"EXISTS {{ ?x :{random.choice('pm')} {value} }}", "true"
    if random.random() < 0.4:
        return f"EXISTS {{ ?x :f {value} }}", "true"
    after = f'?{time} + "PT{random.choice([0, 5, 10])}M"^^xsd:dayTimeDuration'
    u = f"?u{number}"
    found = f"GRAPH {u} {{ ?x :p {value} }} FILTER({u} >= ?{time} && {u} <= {after})"
    return f"EXISTS {{ {found} }}", f'{after} <= "@"^^xsd:dateTime'


def make_choices(random: Random) -> tuple[str, str]:
    """A query, and the same of what is final at a time, @."""
    return make_text(random, make_choice, ERRORS)


def test_some_have_answers(tmp_path: Path) -> None:
    """What random cases say is not said of nothing."""
    told = Counter[str]()
    for seed in range(3):
        told += run_seed(seed, tmp_path / str(seed), make_choices)
    assert told["with answers"] > 3


@budget(0.1)
@given(seed=SEEDS)
def test_what_is_beside_or_is_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case"), make_choices):
            event(kind)
