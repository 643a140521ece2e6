"""The solutions with the greatest value of each key, or the least, as NOT EXISTS says it: what
holds at every time is what rdflib finds until then."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_shared_variables import CASE
from tests.sparql_counts.test_windows_beside import run_seed
from tests.sparql_counts.write_case import write_case

GREATEST = "FILTER NOT EXISTS { GRAPH ?u { ?x :n ?k } FILTER(?k > ?n) }"


def make_greatest(random: Random) -> tuple[str, str, tuple[str, ...]]:
    """A query of the greatest, or the least."""
    op = random.choice("><")
    mine, theirs = random.choice(
        [
            ("?x :n ?n", "?x :n ?k"),
            ("?x :n ?n", "?y :n ?k"),
            ("?x :m ?m ; :n ?n", "?x :m ?l ; :n ?k"),
            ("?x :m ?m ; :n ?n", "?y :m ?m ; :n ?k"),
            ("?x :m ?m ; :n ?n", "?x :m ?m ; :n ?k"),
        ]
    )
    own, other = random.choice([("", ""), ("", ""), ("FILTER(?n < 3)", " && ?k < 3")])
    clause = f"FILTER NOT EXISTS {{ GRAPH ?u {{ {theirs} }} FILTER(?k {op} ?n{other}) }}"
    names = ["x", "n", "m"] if ":m" in mine else ["x", "n"]
    shown = random.sample(names, k=random.randint(1, len(names)))
    text = f"{PREFIXES}SELECT {' '.join(f'?{n}' for n in shown)}\nWHERE {{\n  "
    text += f"GRAPH ?t {{ {mine} }} {own} {clause}\n}}\n"
    return text, text, tuple(shown)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run_seed(seed, tmp_path / str(seed), make_greatest) for seed in range(6))
    assert told["with answers"] >= 2, told


def make_aggregated(random: Random) -> tuple[str, str, tuple[str, ...]]:
    """A join with the greatest value, or the least, of each key."""
    key, inner = random.choice([("?x", "?x :n ?k"), ("?m", "?y :m ?m ; :n ?k")])
    outer = "?x :m ?m ; :n ?n" if key == "?m" or random.random() < 0.5 else "?x :n ?n"
    call = f"({random.choice(['MAX', 'MIN'])}(?k) AS ?n)"
    select = f"{{ SELECT {key} {call} {{ GRAPH ?u {{ {inner} }} }} GROUP BY {key} }}"
    names = ["x", "n", "m"] if ":m" in outer else ["x", "n"]
    shown = random.sample(names, k=random.randint(1, len(names)))
    parts = [select, f"GRAPH ?t {{ {outer} }}"]
    random.shuffle(parts)
    text = f"{PREFIXES}SELECT {' '.join(f'?{n}' for n in shown)}\nWHERE {{\n  {' '.join(parts)} }}"
    return text, text, tuple(shown)


@budget(0.05)
@given(seed=SEEDS)
def test_joins_with_the_greatest_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case"), make_aggregated))


@budget(0.1)
@given(seed=SEEDS)
def test_the_greatest_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case"), make_greatest))


@pytest.mark.parametrize(
    "clause",
    [
        "FILTER(?n < 3) FILTER NOT EXISTS { GRAPH ?u { ?x :n ?k } FILTER(?k > ?n) }",
        "FILTER NOT EXISTS { GRAPH ?u { ?x :n ?k } FILTER(?k >= ?n) }",
        "FILTER NOT EXISTS { GRAPH ?u { ?x :m ?k } FILTER(?k > ?n) }",
        "FILTER NOT EXISTS { GRAPH ?u { ?x :n ?k ; :m 2 } FILTER(?k > ?n) }",
    ],
)
def test_what_others_take_back_is_refused(tmp_path: Path, clause: str) -> None:
    write_case(CASE, tmp_path)
    text = f"{PREFIXES}SELECT ?x ?n {{ GRAPH ?t {{ ?x :n ?n }} {clause} }}"
    (tmp_path / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(tmp_path, environ={}))
    with pytest.raises(QueryError, match="never final"):
        workspace.compile("q")
    plain = f"{PREFIXES}SELECT ?x ?n {{ GRAPH ?t {{ ?x :n ?n }} {GREATEST} }}"
    (tmp_path / "q.rq").write_text(plain, encoding="utf-8")
    assert workspace.compile("q").union.standing is not None
