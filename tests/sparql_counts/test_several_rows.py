"""Expressions over the values of two rows, of two times: the answers are rdflib's at every time."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.case import Atom, Branch, Case, Query
from tests.sparql_counts.compare_answers import Difference, Equal, compare_case
from tests.sparql_counts.random_expressions import make_case, make_expression
from tests.sparql_counts.write_case import write_case

_TIMES = (
    "?t1 < ?t2",
    "?t1 <= ?t2",
    '?t2 > ?t1 && ?t2 <= ?t1 + "PT5M"^^xsd:dayTimeDuration',
    "?t1 != ?t2",
)


def make_query(random: Random) -> Query:
    """A query that computes with properties of one subject at one time, and of one at another."""
    first = random.sample(["n", "d", "a"], k=random.randint(1, 2))
    second = random.sample(["m", "k"], k=random.randint(1, 2))
    other = random.choice(["?y", "?y", "?x"])
    atoms = tuple(Atom("t1", "?x", (c,), f"?{c}") for c in first)
    atoms += tuple(Atom("t2", other, (c,), f"?{c}") for c in second)
    used = [*first, *second]
    lines = [f"FILTER({random.choice(_TIMES)})"]
    if random.random() < 0.5:
        lines.append(f"FILTER({make_expression(random, used, 'boolean', 3)})")
    if random.random() < 0.2:
        sums = f"xsd:double(?{first[0]}) * 0.1e0 - xsd:double(?{second[0]}) * 0.3e0"
        op = random.choice(["<", ">=", "="])
        lines += [f"BIND({sums} AS ?sum)", f"FILTER(?sum {op} 0.1e0)"]
    value = make_expression(random, used, random.choice(["number", "text", "boolean"]), 3)
    match random.randrange(4):
        case 0 | 1:
            lines.insert(0, f"BIND({value} AS ?e)")
            return Query(("?x", other, "?e"), (Branch(atoms, tuple(lines)),))
        case 2:
            lines.insert(0, f"BIND({value} AS ?e)")
            head = ("?e", f"?{second[0]}")
            return Query(head, (Branch(atoms, tuple(lines)),), distinct=True)
        case _:
            number = make_expression(random, used, "number", 2)
            call = random.choice(["SUM", "MIN", "MAX", "COUNT"])
            if random.random() < 0.5:
                lines.insert(0, f"BIND({number} AS ?v)")
                number = "?v"
            head = ("?x", f"({call}({number}) AS ?c)")
            return Query(head, (Branch(atoms, tuple(lines)),), group=("?x",))


def run_seed(seed: int, folder: Path) -> Counter[str]:
    """Compare the query of a seed."""
    random = Random(seed)
    made = make_case(random)
    ranges = (("id", 1, 3), ("n", -4, 7), ("m", 0, 3))
    table = replace(made.tables[0], ranges=ranges)
    case = Case((table,), made.maps, make_query(random), made.rows)
    folder.mkdir()
    write_case(case, folder)
    workspace = Workspace(load_project(folder, environ={}))
    try:
        if workspace.check(workspace.compile("q")).plans is None:
            return Counter(undecided=1)
    except QueryError as error:
        return Counter({f"refused: {error.what.split(',')[0][:40]}": 1})
    outcome = compare_case(case, folder)
    assert not isinstance(outcome, Difference), str(outcome)
    if isinstance(outcome, Equal):
        return Counter({"with answers" if outcome.answers else "without": 1})
    return Counter({f"refused: {outcome.reason.split(',')[0][:40]}": 1})


@budget(0.1)
@given(seed=SEEDS)
def test_expressions_of_several_rows_are_those_of_sparql(seed: int) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case")):
            event(kind)
