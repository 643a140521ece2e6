"""From the first timestamp of which streams on there is what always holds."""

import pytest

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.mappings.sql_expressions.parse_names import parse_names
from ontoweir.rewriter.differences.since_first import begin_with

NONE = DataSource("none", None)
CATALOG = Catalog(
    {name: Stream(name, NONE, "ts", 1, None, (Column("h", IntType()),)) for name in "st"}
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT h FROM s WHERE EXISTS (SELECT 1 FROM t)", ("s", "t")),
        ("WITH s AS (SELECT h FROM t) SELECT h FROM s", ("t",)),
        ("WITH s AS (SELECT h FROM s) SELECT h FROM s", ("s",)),
        ("WITH x AS (SELECT h FROM s), s AS (SELECT h FROM t) SELECT h FROM x", ("s", "t")),
        ("WITH s AS (SELECT h FROM t), x AS (SELECT h FROM s) SELECT h FROM x, s", ("t",)),
        (
            "WITH t AS (SELECT 1 AS h) SELECT h FROM (WITH s AS (SELECT h FROM t) SELECT h FROM s)",
            (),
        ),
    ],
)
def test_what_with_names_is_no_stream(text: str, names: tuple[str, ...]) -> None:
    assert set(begin_with(parse_names(text, CATALOG), CATALOG).begins) == set(names)
