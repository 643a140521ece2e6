"""Which part of a line is marked: comparisons and patterns of queries, entries, words, tabs."""

from pathlib import Path

import pytest

from ontoweir.errors import Source
from ontoweir.files.mark_source import mark_source
from ontoweir.rewriter.sparql.parse_query import parse_query

QUERY = """PREFIX : <http://e/>
SELECT ?a ?b
WHERE {
  GRAPH ?t1 { ?a a :A ; :p ?x, ?y . ?c :q ?z }
  GRAPH ?t2 { ?b :p
    ?w }
  FILTER(?t1 < ?t2 && (?x + 1 <= ?w) && !(?y = 3))
  FILTER(?z > 4
    && ?x IN (1))
}
"""


def part(source: Source | None, text: str = QUERY) -> str:
    """The marked part of a query's line."""
    assert source is not None
    assert source.line is not None
    line = text.split("\n")[source.line - 1]
    if source.column is None or source.end_column is None:
        return line.strip()
    return line[source.column - 1 : source.end_column - 1]


def test_patterns_and_comparisons() -> None:
    (query,) = parse_query(QUERY, name="q", file="q.rq")
    assert [part(a.source) for a in query.atoms] == [
        "?a a :A",
        ":p ?x",
        "?y",
        "?c :q ?z",
        "?w",
    ]
    assert [part(f.source) for f in query.filters] == [
        "?t1 < ?t2",
        "?x + 1 <= ?w",
        "?y = 3",
        "?z > 4",
        "?x IN (1)",
    ]


def test_columns_are_for_showing() -> None:
    """Places that differ in their columns alone are one place, and are written alike."""
    plain, marked = Source("f", 3), Source("f", 3, 5, 9)
    assert plain == marked
    assert hash(plain) == hash(marked)
    assert str(plain) == str(marked) == "f:3"


@pytest.mark.parametrize(
    ("line", "mark", "expected"),
    [
        ("speed = 1", "speed", "speed"),
        ("  top_speed = speed", "speed", "speed"),
        ("top_speed = 1 # speeds", "speed", "top_speed = 1 # speeds"),
        ("\tspeed = 1", "speed", "speed"),
        ("größe = 1; x = 2", "x", "x"),
        ("<M> a rr:TriplesMap", "<M>", "<M>"),
        ("  whole line  ", None, "whole line"),
    ],
)
def test_a_word_of_a_line(tmp_path: Path, line: str, mark: str | None, expected: str) -> None:
    file = tmp_path / "f"
    file.write_text(f"one\n{line}\n", encoding="utf-8")
    found = mark_source(Source(str(file), 2), mark)
    assert found is not None
    assert line[found.start - 1 : found.stop - 1] == expected
    assert found.text[found.column - 1 : found.end_column - 1] == expected
    assert "\t" not in found.text


def test_what_cannot_be_shown_is_not(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"\xff\n")
    assert mark_source(Source(str(file), 1)) is None
    assert mark_source(Source(str(tmp_path / "missing"), 1)) is None
    assert mark_source(Source("--set x=1", 1)) is None
    file.write_text("one\n")
    assert mark_source(Source(str(file))) is None
    assert mark_source(Source(str(file), 9)) is None


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    first = mark_source(Source(str(file), 1))
    file.write_text("other\n")
    second = mark_source(Source(str(file), 1))
    assert first is not None
    assert second is not None
    assert (first.text, second.text) == ("one", "other")
