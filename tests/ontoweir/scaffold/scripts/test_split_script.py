"""Statements of scripts, and where they begin."""

import pytest

from ontoweir.scaffold.scripts.split_script import Kind, split_script


def _kinds(text: str) -> list[tuple[Kind, str | None, int]]:
    return [(s.kind, s.name, s.line) for s in split_script(text)]


def test_statements_of_every_kind() -> None:
    text = """-- first; a comment
SET 'a;b' = 'c';
CREATE TEMPORARY TABLE IF NOT EXISTS `db`.`s` (x INT) WITH ('k' = 'it''s; so');
CREATE OR REPLACE VIEW v AS
  SELECT 1; /* between; */ CREATE MATERIALIZED VIEW m AS SELECT x FROM s;

INSERT INTO out (a, b)
SELECT x, x FROM s;
INSERT INTO out VALUES (1, 2);
WITH c AS (SELECT x FROM s) SELECT * FROM c
"""
    assert _kinds(text) == [
        (Kind.OTHER, None, 2),
        (Kind.TABLE, "s", 3),
        (Kind.VIEW, "v", 4),
        (Kind.VIEW, "m", 5),
        (Kind.QUERY, "out", 7),
        (Kind.OTHER, None, 9),
        (Kind.QUERY, None, 10),
    ]
    assert [s.kept for s in split_script(text) if s.kind is Kind.VIEW] == [False, True]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("BEGIN STATEMENT SET;", "END;"),
        ("EXECUTE STATEMENT SET\nBEGIN", "END;"),
        ("STATEMENT SET BEGIN", "END"),
        ("BEGIN;", "END;"),
        ("", ""),
    ],
)
def test_the_frame_of_a_set_is_left_out(opening: str, closing: str) -> None:
    text = f"{opening}\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT 2;\n{closing}\n"
    lines = opening.count("\n") + 2
    assert _kinds(text) == [(Kind.QUERY, "a", lines), (Kind.QUERY, "b", lines + 1)]


def test_a_query_keeps_its_lines() -> None:
    """What is before it in the script are ends of lines in its text."""
    text = "SET x = 1;\nINSERT INTO out\n-- why\nSELECT a\nFROM s"
    _, insert = split_script(text)
    assert insert.text == "INSERT INTO out\n-- why\nSELECT a\nFROM s"
    assert insert.body == "\n\n\nSELECT a\nFROM s"


def test_tables_and_views_that_are_made_of_queries() -> None:
    made = list(
        split_script(
            "CREATE TABLE t AS SELECT 1; CREATE TABLE u WITH ('a' = 'b') AS SELECT 2;"
            "CREATE VIEW v (a, `b`) AS SELECT 1, 2; EXPLAIN PLAN FOR SELECT 3"
        )
    )
    assert [(s.kind, s.name) for s in made] == [
        (Kind.QUERY, "t"),
        (Kind.QUERY, "u"),
        (Kind.VIEW, "v"),
        (Kind.QUERY, None),
    ]
    assert made[2].columns == ("a", "b")
    assert made[3].body == "SELECT 3"


def test_nothing() -> None:
    assert _kinds("") == _kinds(";;\n-- a; b\n;/* c */") == []
