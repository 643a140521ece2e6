"""OPTIONAL patterns that are read as others: the row before, if there was one; what is counted
beside each, none of some. Answers are rdflib's at every time."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_before import EARLIER, LATER
from tests.sparql_counts.test_ward import ask

COUNTED = (
    "(COUNT(?o1) AS ?n)",
    "(COUNT(*) AS ?c)",
    "(MAX(?v) AS ?m)",
    "(COUNT(DISTINCT ?v) AS ?d)",
    "(MIN(?v) AS ?l)",
    "(COUNT(?p) AS ?k)",
)


def draw_before(random: Random) -> str:
    """Rows with the one before, if there was one."""
    earlier, between = random.choice(EARLIER)
    before, until = random.choice([("<", "<"), ("<=", "<="), ("<", "<="), ("<=", "<")])
    text = f"GRAPH ?t {{ {random.choice(LATER)} }} {random.choice(['', 'FILTER(?v > 1) '])}"
    text += f"OPTIONAL {{ GRAPH ?s {{ {earlier} }} FILTER(?s {before} ?t) "
    text += f"FILTER NOT EXISTS {{ GRAPH ?u {{ {between} }} FILTER(?u > ?s && ?u {until} ?t) }} "
    if ":bed" not in earlier:
        text += random.choice(["", "FILTER(?b < ?v) "])
    text += random.choice(["}", "} ?p :age ?a"])
    return random.choice(
        [
            f"SELECT ?p ?v ?b {{ {text} }}",
            f"SELECT DISTINCT ?p ?b {{ {text} }}",
            f"SELECT ?p (COUNT(*) AS ?n) {{ {text} }} GROUP BY ?p",
        ]
    )


def draw_counted(random: Random) -> str:
    """What is counted of rows beside each patient."""
    each = random.choice(
        ["?p a :Patient", "?p :age ?a", "?p :age ?a . ?p a :Patient FILTER(?a > 2)"]
    )
    keys = "?p ?a" if "?a" in each else "?p"
    told = " ".join(random.sample(COUNTED, k=random.choice([1, 1, 2])))
    beside = f"GRAPH ?t {{ {random.choice(LATER)} }}"
    return f"SELECT {keys} {told} {{ {each} OPTIONAL {{ {beside} }} }} GROUP BY {keys}"


def run(seed: int, folder: Path) -> str:
    """What came of the question of a seed."""
    random = Random(seed)
    return ask(random.choice([draw_before, draw_counted])(random), seed, folder)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder).partition(": ")[2]] += 1
    assert told["with answers"] > 5, told


@given(SEEDS)
@budget(0.3)
def test_answers_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)))
