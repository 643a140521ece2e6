"""What people ask of a stream in SPARQL (asked.rq): each question is answered as rdflib answers the
same text after every timestamp, or refused with what to write instead."""

from collections import Counter
from pathlib import Path

import pytest

import ontoweir
from tests.sparql_counts.ask_rdflib import ask_rdflib, translate_query
from tests.sparql_counts.case import Branch, Case, Map, Query, Row, Table
from tests.sparql_counts.compare_answers import Equal, Outcome, Refused, compare_queries
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.write_case import write_case, write_query

STREAM = Table(
    "s",
    (
        ("id", "int"),
        ("n", "int"),
        ("d", "decimal(5,1)"),
        ("a", "string"),
        ("m", "int"),
        ("w", "double"),
    ),
    stream=True,
    keys=(("id",),),
)
RELATION = Table("r", (("id", "int"), ("f", "int"), ("g", "int")), stream=False, keys=(("id",),))
SUBJECT = 'rr:template "http://e/{id}"'
MAPS = (
    Map("s", SUBJECT, (), tuple((c, f'rr:column "{c}"') for c in "ndamw")),
    Map("r", SUBJECT, (), tuple((c, f'rr:column "{c}"') for c in "fg")),
)
ROWS: dict[str, tuple[Row, ...]] = {
    "s": (
        (0, 1, 5, "4.5", "abc", 5, "0.5"),
        (0, 2, 1, None, "xyz", 5, "1.5"),
        (1, 1, 5, "5.0", "abc", 0, "0.5"),
        (1, 3, 7, "-0.5", None, 7, None),
        (2, 2, -3, "0.0", "", None, "2.0"),
        (2, 1, 3, "4.5", "zz", 3, "1.5"),
        (4, 3, None, "9.5", "xyz", 1, "0.5"),
        (5, 4, 5, "5.0", "a", 5, None),
    ),
    "r": ((1, 4, 4), (2, 1, None), (3, None, 7), (5, 2, 3)),
}
LINES = Path(__file__).with_name("asked.rq").read_text(encoding="utf-8").splitlines()
QUESTIONS = [
    (before.removeprefix("# refused: ") if before.startswith("# refused: ") else "", line)
    for before, line in zip(["", *LINES], LINES, strict=False)
    if line and not line.startswith("#")
]


def read_question(line: str) -> Query:
    """What is asked in a line."""
    head, pattern, *group = line.split(" | ")
    names = head.removeprefix("DISTINCT ")
    shown, depth = [""], 0
    for letter in names:
        depth += (letter == "(") - (letter == ")")
        if letter == " " and not depth:
            shown.append("")
        else:
            shown[-1] += letter
    grouped = tuple(group[0].split()) if group else ()
    return Query(tuple(shown), (Branch((), (pattern,)),), names != head, grouped)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    queries = [read_question(line) for _, line in QUESTIONS]
    case = Case((STREAM, RELATION), MAPS, queries[0], ROWS)
    folder = tmp_path_factory.mktemp("asked")
    outcomes = compare_queries(case, queries, [ROWS], folder)
    return {line: one for (_, line), (one,) in zip(QUESTIONS, outcomes, strict=True)}


@pytest.mark.parametrize(("said", "line"), QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_it_is_answered_or_refused(told: dict[str, Outcome], said: str, line: str) -> None:
    outcome = told[line]
    if said:
        assert isinstance(outcome, Refused), outcome
        assert said in outcome.reason
    else:
        assert isinstance(outcome, Equal), str(outcome)
        assert outcome.answers


NESTED = (
    "?x ?n | GRAPH ?t { ?x :n ?n } FILTER NOT EXISTS { ?x :f ?f FILTER NOT EXISTS { ?x :g ?f } }"
)
VIEW = """
[relations.lone]
max_rows = 9
columns = { id = "int", f = "int" }
[relations.lone.source]
view = '''
SELECT id, f FROM r
WHERE f IS NOT NULL AND NOT EXISTS (SELECT 1 FROM r AS o WHERE o.id = r.id AND o.g = r.f)
'''
"""


def test_a_view_says_what_is_refused_inside_of_another_exists(
    tmp_path: Path, spark: object
) -> None:
    """As the advice has it: the answers are those of the question that is refused."""
    assert spark is not None
    asked = read_question(NESTED)
    write_case(Case((STREAM, RELATION), MAPS, asked, ROWS), tmp_path)
    nested = write_query(asked)
    wanted = list(ask_rdflib(translate_query(nested), Project(tmp_path).read_graphs()))[-1][1]
    maps = (*MAPS, Map("lone", SUBJECT, (), (("v", 'rr:column "f"'),)))
    plain = read_question("?x ?n | GRAPH ?t { ?x :n ?n } FILTER NOT EXISTS { ?x :v ?f }")
    write_case(Case((STREAM, RELATION), maps, plain, ROWS), tmp_path)
    with (tmp_path / "ontoweir.toml").open("a", encoding="utf-8") as catalog:
        catalog.write(VIEW)
    table = ontoweir.open_project(tmp_path).replay("q").to_arrow()
    rows = table.select(["x", "n"]).to_pylist()
    assert Counter((row["x"], str(row["n"])) for row in rows) == wanted
    assert wanted.total() == 5
