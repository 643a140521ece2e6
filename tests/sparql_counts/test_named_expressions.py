"""What SPARQL computes where rdflib does not say it: each case with its answers, by hand."""

from collections import Counter
from pathlib import Path

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.sparql_counts.case import Atom, Branch, Case, Map, Query, Table
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import write_case, write_query, write_rows

TABLE = Table(
    "s",
    (("id", "int"), ("n", "int"), ("d", "decimal(5,1)"), ("a", "string"), ("f", "double")),
    stream=True,
    keys=(("id",),),
)
MAP = Map(
    "s",
    'rr:template "http://e/{id}"',
    (),
    tuple((c, f'rr:column "{c}"') for c in ("n", "d", "a", "f")),
)
ROWS = ((0, 1, 5, "-2.5", "ab", "0.5"), (1, 2, -3, "2.5", "12", "2.0"))


def answer(folder: Path, *lines: str, head: tuple[str, ...] = ("?e",)) -> Counter[str]:
    """The last column of the answers over the two rows of the stream."""
    atoms = tuple(Atom("t", "?x", (c,), f"?{c}") for c in ("n", "d", "a", "f"))
    query = Query(head, (Branch(atoms, lines),))
    folder.mkdir(exist_ok=True)
    write_case(Case((TABLE,), (MAP,), query, {"s": ROWS}), folder)
    write_rows(TABLE, ROWS, folder)
    (folder / "q.rq").write_text(write_query(query), encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile("q")
    job = prepare_job(workspace, compiled)
    names = [name.split()[-1].strip("?)") for name in head]
    found = replay_case(workspace, compiled, job, names)
    counts: Counter[str] = Counter()
    for rows in found.values():
        for row, count in rows.items():
            counts[row[-1]] += count
    return counts


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("xsd:integer(?d)", ["-2", "2"]),  # cut off, not rounded
        ("ROUND(?d)", ["-2", "3"]),  # halves go up
        ("?n / 2", ["2.5", "-1.5"]),
        ("?n IN (5.0, 7)", ["true", "false"]),  # IN is =
        ("- (- 3)", ["3", "3"]),
        ("- 0", ["0", "0"]),
        ("IF(?a, 1, 2)", ["1", "1"]),
        ("IF(xsd:integer(?a) > 0, 1, 2)", ["None", "1"]),
        ("(?a > 1) || (?n > 0)", ["true", "None"]),
        ("(?a > 1) && (?n > 0)", ["None", "false"]),
        ("COALESCE(xsd:integer(?a), ?n)", ["5", "12"]),
        ("?f * ?n", ["2.5", "-6"]),
        ("xsd:double(?n) / 4", ["1.25", "-0.75"]),
        ('UCASE("ß")', ["SS", "SS"]),
        ('SECONDS("2020-01-01T00:00:01.5Z"^^xsd:dateTime)', ["1.5", "1.5"]),
    ],
)
def test_values(expression: str, values: list[str], tmp_path: Path) -> None:
    found = answer(tmp_path / "p", f"BIND(({expression}) AS ?e)", head=("?x", "?e"))
    assert found == Counter(values)


def test_select_names_what_it_computes(tmp_path: Path) -> None:
    found = answer(tmp_path / "p", head=("?x", "(?n * 1.8 + 32 AS ?e)"))
    assert found == Counter(["41", "26.6"])


def test_a_sign_before_an_aggregated_variable_counts(tmp_path: Path) -> None:
    assert answer(tmp_path / "p", head=("(SUM(-?n) AS ?e)",))["-2"] == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["BIND(?n / ?d AS ?e)"], "the mean of what IF gives: AVG(IF("),
        (["BIND(xsd:date(?d) AS ?e)"], "GROUP BY (ow:tumble("),
        (["BIND(<urn:ontoweir:tumble>(?d, 1) AS ?e)"], "a bucket of time is in GROUP BY"),
        (["BIND(?n / 3 AS ?e)"], "places without end"),
        (['BIND(IF(?n > 1, 1, "a") AS ?e)'], "IF of int and string"),
        (["BIND(COALESCE(?n, 1.5) AS ?e)"], "COALESCE of decimal(2,1) and int"),
        # too many digits are no error of SPARQL's: the solution would be lost
        (
            ["BIND(?n AS ?e)", "FILTER((xsd:decimal(?n) * xsd:decimal(?n)) != ?d * 1.5)"],
            "decimals with",
        ),
        (["BIND(?x + 1 AS ?e)"], "an IRI, a blank node or a text of a language"),
        (['BIND(REGEX(?a, "\\\\w") AS ?e)'], "the regular expression"),
        (["BIND(?later + 1 AS ?e)"], "?later, which is not bound there"),
        (["BIND(?n AS ?n)"], "BIND of ?n, which is bound already"),
        (["FILTER(STRLEN(?a) > ?zero)", "BIND(?n AS ?e)"], "?zero, which is not bound there"),
        (["BIND(xsd:decimal(?a) AS ?e)"], "xsd:decimal of a value of this type"),
        (["BIND(CONCAT(?a, ?n) AS ?e)"], "an expression never has a value"),
        (["BIND(?a + 1 AS ?e)"], "an expression never has a value"),
        (["BIND(?n + 1 AS ?e)", "FILTER(?e = ?zero)"], "?zero, which is not bound there"),
    ],
)
def test_refused_by_name(lines: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError) as caught:
        answer(tmp_path / "p", *lines, head=("?x", "?e"))
    assert message in str(caught.value)
    assert "q.rq:" in str(caught.value)
