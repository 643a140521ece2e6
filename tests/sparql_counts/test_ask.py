"""ASK: its one answer is given at the first time when rdflib's is true, of what is final then."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_absence_choices import ERRORS, make_choice
from tests.sparql_counts.test_computed_absence import make_clause, make_text, run_seed

HEAD = "DISTINCT ?ask"


def make_ask(random: Random) -> tuple[str, str]:
    """A query, and the SELECT DISTINCT of its truth value where that is final at a time, @."""
    make = random.choice([make_choice, make_clause])
    asked, final = make_text(random, make, ERRORS, HEAD)
    opens = final.index("WHERE {")
    body = final[opens + len("WHERE {") : final.rindex("}")]
    asked = asked.replace(f"SELECT {HEAD}", random.choice(["ASK", "ask"]))
    return asked, f"{final[:opens]}WHERE {{{body} BIND(true AS ?ask) }}"


def test_some_are_true(tmp_path: Path) -> None:
    """What random cases say is not said of nothing."""
    told = [run_seed(seed, tmp_path / str(seed), make_ask) for seed in range(3)]
    assert sum(t["with answers"] for t in told) > 2


@budget(0.1)
@given(seed=SEEDS)
def test_ask_is_true_when_rdflibs_is(seed: int) -> None:
    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case"), make_ask):
            event(kind)
