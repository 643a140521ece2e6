"""Answers that were written as SPARQL's JSON or N-Quads are read as they were."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from rdflib import Dataset

from ontoweir.answers.read_answers import find_answers
from ontoweir.errors import DataError
from ontoweir.runtime.rdf.encode_rows import RowEncoder
from ontoweir.runtime.rdf.find_terms import AnswerTerms, RdfFormat, TermKind

LETTERS = 'abZ é€𝄞"\\\n\t\u2028\x7f<>^`{}|#._:'
TERMS = AnswerTerms(
    "q",
    {
        "it": frozenset({TermKind("iri")}),
        "node": frozenset({TermKind("blank")}),
        "said": frozenset({TermKind("literal", None, "en")}),
    },
)
SCHEMA = pa.schema(
    [
        ("it", pa.string()),
        ("node", pa.string()),
        ("said", pa.string()),
        ("plain text?", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("d", pa.decimal128(9, 2)),
        ("yes", pa.bool_()),
        ("day", pa.date32()),
        ("t", pa.timestamp("us", "UTC")),
        ("at", pa.timestamp("us")),
    ]
)


def _make(random: Random, rows: int) -> pa.Table:
    def text() -> str:
        return "".join(random.choice(LETTERS) for _ in range(random.randint(0, 9)))

    def moment() -> datetime:
        return datetime.fromtimestamp(random.randrange(10**9), UTC).replace(
            microsecond=random.choice((0, 5, 999_999))
        )

    made = {
        "it": lambda: f"http://e.example/{random.randrange(9)}/é",
        "node": lambda: f"_:{text()}x",
        "said": text,
        "plain text?": text,
        "n": lambda: random.randint(-(2**63), 2**63 - 1),
        "x": lambda: random.choice((0.1, -1e300, 5e-324, float("inf"), 3.0)),
        "d": lambda: Decimal(random.randint(-(10**8), 10**8)).scaleb(-2),
        "yes": lambda: random.random() < 0.5,
        "day": lambda: date.fromordinal(random.randint(1, 3_000_000)),
        "t": moment,
    }
    held: list[dict[str, Any]] = []
    for n in range(rows):
        row = {k: None if n and random.random() < 0.2 else make() for k, make in made.items()}
        held.append({**row, "at": moment().replace(tzinfo=None)})
    return pa.Table.from_pylist(held, SCHEMA)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("form", ["srj", "nq"])
def test_what_is_written_is_read(tmp_path: Path, form: RdfFormat, seed: int) -> None:
    table = _make(Random(seed), 30)
    file = tmp_path / f"a.{form}"
    file.write_bytes(RowEncoder(form, table.schema, TERMS, "q1").whole(table))
    (read,) = find_answers(file).read()
    assert set(read.column_names) == set(table.column_names)
    assert read.select(table.column_names).to_pylist() == table.to_pylist()
    for name in table.column_names:
        if name != "d":  # of decimals the digits are kept
            assert read.schema.field(name).type == table.schema.field(name).type


def test_quads_of_other_programs(tmp_path: Path) -> None:
    text = (
        "# by hand\n"
        '<http://e/s> <http://e/p> "a\\u00e9\\"b"@en <http://e/g> .\n'
        "\n"
        "_:x <http://e/p> <http://e/o\\u00e9> . # in no graph\n"
    )
    file = tmp_path / "a.nq"
    file.write_text(text)
    (read,) = find_answers(file).read()
    assert read.column_names == ["s", "p", "o", "graph"]
    assert [row["o"] for row in read.to_pylist()] == ['aé"b', "http://e/oé"]
    assert [row["graph"] for row in read.to_pylist()] == ["http://e/g", None]
    quads = Dataset().parse(data=text, format="nquads").quads()
    assert {str(q[2]) for q in quads} == {row["o"] for row in read.to_pylist()}


def test_triples_of_a_time(tmp_path: Path) -> None:
    file = tmp_path / "a.nq"
    file.write_text(
        "<http://e/s> <http://e/p> <http://e/o> <urn:ontoweir:at:2026-01-01T00:00:00Z> .\n"
    )
    (read,) = find_answers(file).read()
    assert read.to_pylist() == [
        {"s": "http://e/s", "p": "http://e/p", "o": "http://e/o", "at": datetime(2026, 1, 1)}
    ]


def test_a_column_of_several_datatypes_is_text(tmp_path: Path) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    cells = [("1", f"{xsd}integer"), ("1.5", f"{xsd}decimal"), ("one", None)]
    bindings = [
        {"x": {"type": "literal", "value": v} | ({} if d is None else {"datatype": d})}
        for v, d in cells
    ]
    bindings.append({})
    held = {"head": {"vars": ["x", "none"]}, "results": {"bindings": bindings}}
    file = tmp_path / "a.srj"
    file.write_text(json.dumps(held, indent=1))
    (read,) = find_answers(file).read()
    assert read.column("x").to_pylist() == ["1", "1.5", "one", None]
    assert read.column("none").to_pylist() == [None] * 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srj", "{"),
        ("a.srj", "[]"),
        ("a.srj", '{"head": {}}'),
        ("a.nq", "<http://e/s> <http://e/p> .\n"),
        ("a.nq", "<http://e/s> <http://e/p> <http://e/o> <http://e/g>\n"),
        ("a.nq", '<http://e/s> <http://e/p> "open .\n'),
    ],
)
def test_what_is_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=r"is not (SPARQL's JSON|N-Quads)"):
        list(find_answers(tmp_path / name).read())
