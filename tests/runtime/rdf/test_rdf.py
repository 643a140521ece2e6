"""Answers as SPARQL's JSON and N-Quads: what other programs read of them is what they are."""

import io
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest
from rdflib import XSD, BNode, Literal, URIRef
from rdflib.query import Result

from ontoweir.cli import main
from ontoweir.runtime.rdf.encode_rows import ANSWER, RowEncoder, lexical_form, name_scope
from ontoweir.runtime.rdf.find_terms import AnswerTerms, RdfFormat, TermKind

NS = "http://rooms.example/ns#"
QUERIES = {
    "plain": "SELECT ?sensor ?c WHERE { GRAPH ?t { ?r :madeBy ?sensor ; :temperature ?c } }",
    "bag": "SELECT ?state WHERE { GRAPH ?t { ?r :state ?state } }",
    "spo": """SELECT ?s ?p ?o
        WHERE { GRAPH ?t { ?s :temperature ?o } BIND(:temperature AS ?p) FILTER(?o > 27) }""",
    "groups": """SELECT ?sensor (COUNT(*) AS ?n) (MIN(?c) AS ?least) (AVG(?c) AS ?mean)
        (COUNT(*) * 2 AS ?twice)
        WHERE { GRAPH ?t { ?r :madeBy ?sensor ; :temperature ?c } } GROUP BY ?sensor""",
    "mixed": """SELECT ?x
        WHERE { { GRAPH ?t { ?r :madeBy ?x } } UNION { GRAPH ?t { ?r :temperature ?x } } }""",
    "none": "SELECT ?c WHERE { GRAPH ?t { ?r :temperature ?c } FILTER(?c > 59) }",
}


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("r") / "rooms"
    assert main(["init", str(folder), "-q"]) == 0
    for name, text in QUERIES.items():
        (folder / "queries" / f"{name}.rq").write_text(f"PREFIX : <{NS}>\n{text}\n")
    return folder


def _replay(rooms: Path, query: str, output: Path, *more: str) -> Path:
    asked = ["replay", str(rooms), "--query", query, "--output", str(output), "-q", *more]
    assert main(asked) == 0
    return output


def _rows(file: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(file).to_pylist()
    return [r for r in rows for _ in range(int(str(r.pop("multiplicity", 1))))]


def _bindings(file: Path) -> list[dict[str, object]]:
    result = Result.parse(io.BytesIO(file.read_bytes()), format="json")
    assert result.bindings is not None
    return [{str(k): v for k, v in row.items()} for row in result.bindings]


def _utc(moment: object) -> str:
    return f"{str(moment).replace(' ', 'T').removesuffix('+00:00')}Z"


def test_bindings_are_the_answers(rooms: Path, tmp_path: Path) -> None:
    expected = _rows(_replay(rooms, "plain", tmp_path / "a.parquet"))
    found = _bindings(_replay(rooms, "plain", tmp_path / "a.srj"))
    assert len(found) == len(expected) == 960
    for row, known in zip(found, expected, strict=True):
        assert row["sensor"] == URIRef(str(known["sensor"]))
        assert row["c"] == Literal(str(known["c"]), datatype=XSD.decimal)
        assert row["at"] == Literal(_utc(known["at"]), datatype=XSD.dateTime)
    head = json.loads((tmp_path / "a.srj").read_text())["head"]
    assert head == {"vars": ["sensor", "c", "at"]}


def test_a_row_for_each_time_that_it_counts(rooms: Path, tmp_path: Path) -> None:
    table = pq.read_table(_replay(rooms, "bag", tmp_path / "a.parquet"))
    assert max(table.column("multiplicity").to_pylist()) > 1
    found = _bindings(_replay(rooms, "bag", tmp_path / "a.srj"))
    assert len(found) == 960
    assert found == _bindings(_replay(rooms, "bag", tmp_path / "b.srj", "--expand"))
    quads = _quads(_replay(rooms, "bag", tmp_path / "a.nq"))
    assert len({q.subject for q in quads}) == 960


def _quads(file: Path) -> list[ox.Quad]:
    return list(ox.parse(file.read_bytes(), format=ox.RdfFormat.N_QUADS))


def test_quads_of_rows(rooms: Path, tmp_path: Path) -> None:
    expected = _rows(_replay(rooms, "plain", tmp_path / "a.parquet"))
    rows: dict[object, dict[str, ox.Quad]] = {}
    for quad in _quads(_replay(rooms, "plain", tmp_path / "a.nq")):
        rows.setdefault(quad.subject, {})[quad.predicate.value] = quad
    assert len(rows) == len(expected)
    for row, known in zip(rows.values(), expected, strict=True):
        at = _utc(known["at"])
        assert row[f"{ANSWER}sensor"].object == ox.NamedNode(str(known["sensor"]))
        assert row[f"{ANSWER}c"].object == ox.Literal(
            str(known["c"]), datatype=ox.NamedNode(str(XSD.decimal))
        )
        assert {q.graph_name for q in row.values()} == {ox.NamedNode(f"urn:ontoweir:at:{at}")}


def test_triples_are_quads_themselves(rooms: Path, tmp_path: Path) -> None:
    expected = _rows(_replay(rooms, "spo", tmp_path / "a.parquet"))
    quads = _quads(_replay(rooms, "spo", tmp_path / "a.nq"))
    assert len(quads) == len(expected) > 20
    assert {q.predicate.value for q in quads} == {f"{NS}temperature"}
    assert [q.subject.value for q in quads] == [r["s"] for r in expected]  # type: ignore[union-attr]


def test_terms_of_groups(rooms: Path, tmp_path: Path) -> None:
    found = _bindings(_replay(rooms, "groups", tmp_path / "a.srj", "--final"))
    assert len(found) == 8
    for row in found:
        assert isinstance(row["sensor"], URIRef)
        assert (row["n"], row["twice"]) == (Literal(120), Literal(240))
        kinds = [row[name].datatype for name in ("least", "mean")]  # type: ignore[attr-defined]
        assert kinds == [XSD.decimal, XSD.double]


def test_sql_has_literals(rooms: Path, tmp_path: Path) -> None:
    sql = "SELECT sensor, celsius, state, ts FROM reading WHERE celsius > 28"
    asked = ["replay", str(rooms), "--sql", sql, "--output", str(tmp_path / "a.srj"), "-q"]
    assert main(asked) == 0
    for row in _bindings(tmp_path / "a.srj"):
        assert [row[n].datatype for n in ("sensor", "celsius", "state", "ts")] == [  # type: ignore[attr-defined]
            *(XSD.integer, XSD.decimal, None, XSD.dateTime)
        ]


@pytest.mark.parametrize("form", ["srj", "nq"])
def test_terms_of_several_kinds(
    rooms: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"a.{form}"
    asked = ["replay", str(rooms), "--query", "mixed", "--output", str(output), "-q"]
    assert main(asked) == 2
    told = capsys.readouterr().err
    assert "x is a literal of xsd:decimal or an IRI, and its values do not say which" in told
    assert list(tmp_path.iterdir()) == []
    assert main([*asked, "--format", "csv"]) == 0


def test_literals_as_subjects(
    rooms: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT sensor AS s, state AS p, celsius AS o FROM reading"
    asked = ["replay", str(rooms), "--sql", sql, "--output", str(tmp_path / "a.nq"), "-q"]
    assert main(asked) == 2
    assert "s is a literal of xsd:integer, and quads are made of s, p, o" in capsys.readouterr().err
    assert not (tmp_path / "a.nq").exists()


def test_no_answers(rooms: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _bindings(_replay(rooms, "none", tmp_path / "a.srj")) == []
    assert _replay(rooms, "none", tmp_path / "a.nq").read_text() == ""
    capsys.readouterr()
    _replay(rooms, "none", Path("-"), "--format", "srj")
    assert json.loads(capsys.readouterr().out)["results"] == {"bindings": []}


TEXTS = ["", 'a "b" \\ c', "line\nand\r\tmore", "\x00\x1f\x7f\u2028", "é 漢 😀", "_:x"]


@pytest.mark.parametrize("form", ["srj", "nq"])
def test_all_texts_are_read_as_they_are(form: RdfFormat) -> None:
    names = {
        "iri": TermKind("iri"),
        "node": TermKind("blank"),
        "text": TermKind("literal"),
        "said": TermKind("literal", language="da"),
        "typed": TermKind("literal", "http://x.example/type"),
    }
    table = pa.table(
        {
            "iri": [f"http://x.example/{n}" for n in range(len(TEXTS))],
            "node": [f"_:{t}" for t in TEXTS],
            **dict.fromkeys(("text", "said", "typed"), TEXTS),
            "at": pa.array([datetime(2026, 1, 5, 8)] * len(TEXTS), pa.timestamp("us")),
        }
    )
    terms = AnswerTerms("q", {n: frozenset((k,)) for n, k in names.items()})
    encoded = RowEncoder(form, table.schema, terms, "x").whole(table)
    if form == "nq":
        quads = list(ox.parse(encoded, format=ox.RdfFormat.N_QUADS))
        found = [q.object.value for q in quads if q.predicate.value == f"{ANSWER}text"]
        nodes = {q.object for q in quads if q.predicate.value == f"{ANSWER}node"}
        said = {q.object.language for q in quads if q.predicate.value == f"{ANSWER}said"}
        assert said == {"da"}
    else:
        result = Result.parse(io.BytesIO(encoded), format="json")
        assert result.vars is not None
        rows = list(result)
        found = [str(row["text"]) for row in rows]  # type: ignore[index,call-overload]
        nodes = {row["node"] for row in rows}  # type: ignore[index,call-overload]
        assert all(isinstance(node, BNode) for node in nodes)
    assert found == TEXTS
    assert len(nodes) == len(TEXTS)


def test_an_iri_that_is_none_stays_one_line() -> None:
    table = pa.table({"x": ["http://x/a b>\n<y"], "at": pa.array([datetime(2026, 1, 5)])})
    terms = AnswerTerms("q", {"x": frozenset((TermKind("iri"),))})
    text = RowEncoder("nq", table.schema, terms, "x").whole(table).decode()
    assert "<http://x/a\\u0020b\\u003E\\u000A\\u003Cy>" in text.splitlines()[0]
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (7, "7"),
        (float("inf"), "INF"),
        (float("-inf"), "-INF"),
        (float("nan"), "NaN"),
        (1e300, "1e+300"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.10"), "0.10"),
        (date(2026, 1, 5), "2026-01-05"),
        (datetime(2026, 1, 5, 8, 0, 0, 250), "2026-01-05T08:00:00.000250Z"),
    ],
)
def test_lexical_forms(value: object, text: str) -> None:
    assert lexical_form(value) == text


def test_nodes_of_several_files_are_not_the_same() -> None:
    scopes = [name_scope(*p) for p in (("run", "q", "1"), ("run", "q", "2"), ("run", "p", "1"))]
    assert len(set(scopes)) == 3
