"""Solutions that several kinds of later rows end, by variables that differ, of which static
relations say what belongs together: what holds at every time is what rdflib finds."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_joined_solutions import compare_changes
from tests.sparql_counts.test_shared_variables import CASE, make_rows

OF_X = ["?x :n ?k", "?x :p ?k", "?x :m ?k FILTER(?k > 0)", "?x :m ?k ; :p ?k"]
OF_F = ["GRAPH ?v { ?y :p ?j } ?y :f ?f", "GRAPH ?v { ?y :p ?j ; :m ?j } ?y :f ?f"]
OF_G = [
    "GRAPH ?w { ?z :n ?j FILTER(?j < 2) } ?z :g ?g",
    "GRAPH ?w { ?z :m ?j } ?z :g ?g . ?z :f ?f",
]


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """Rows of the stream beside static ones, that later rows of some of these end."""
    later = random.choice([">", ">", ">="])
    parts = [
        f"GRAPH ?u {{ {random.choice(OF_X)} }} FILTER(?u {later} ?t)",
        f"{random.choice(OF_F)} FILTER(?v {later} ?t)",
        f"{random.choice(OF_G)} FILTER(?w {later} ?t)",
    ]
    chosen = random.sample(parts, k=random.choice([2, 2, 3]))
    mine = random.choice(["", "", " FILTER(?n > 0)"])
    said = " ".join(f"FILTER NOT EXISTS {{ {part} }}" for part in chosen)
    names = tuple(random.sample(["x", "f", "g", "n"], k=random.randint(1, 4)))
    head = f"{random.choice(['', '', 'DISTINCT '])}{' '.join(f'?{n}' for n in names)}"
    body = f"GRAPH ?t {{ ?x :n ?n{mine} }} ?x :f ?f . ?x :g ?g . {said}"
    return f"{PREFIXES}SELECT {head}\nWHERE {{ {body} }}\n", names


def run_seed(seed: int, folder: Path) -> str:
    """Compare the query of a seed at every time: what came of it."""
    random = Random(seed)
    case = replace(CASE, rows=make_rows(random))
    asked = make_query(random)
    return compare_changes(case, asked, random, folder, lambda u: u.standing is not None)


@budget(0.12)
@given(seed=SEEDS)
def test_solutions_that_differing_keys_end_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case")))


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run_seed(seed, tmp_path / str(seed)) for seed in range(6))
    assert told["with answers"] > 3, told
