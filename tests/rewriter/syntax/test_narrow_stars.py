"""`*` that leaves columns out."""

import pytest

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Relation, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.rewriter.syntax.narrow_stars import narrow_stars

SOURCE = DataSource("parquet", "s")
CATALOG = Catalog(
    {"s": Stream("s", SOURCE, "ts", 1, 5, (Column("a", IntType()), Column("b", IntType())))},
    {"r": Relation("r", SOURCE, (Column("A", IntType()), Column("c d", IntType())))},
)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT * EXCEPT (b) FROM s", "`s`.`ts`, `s`.`a`"),
        ("SELECT 1 AS x, * EXCLUDE (TS, a) FROM S", "1 AS x, `S`.`b`"),
        ("SELECT x.* EXCEPT (a), r.* FROM s x, r", "`x`.`ts`, `x`.`b`, r.*"),
        ("SELECT * EXCEPT (a) FROM s JOIN r ON TRUE", "`s`.`ts`, `s`.`b`, `r`.`c d`"),
        ("SELECT * REPLACE (a + 1 AS a) FROM s", "`s`.`ts`, a + 1 AS a, `s`.`b`"),
        ("SELECT * EXCEPT (n) FROM (SELECT *, 1 AS n FROM s) WHERE n = 1", "`ts`, `a`, `b`"),
        ("WITH x AS (SELECT a, b FROM s) SELECT * EXCEPT (a) FROM x", "`x`.`b`"),
        ("WITH x (p, q) AS (SELECT a, b FROM s) SELECT * EXCEPT (p) FROM x y", "`y`.`q`"),
        ("SELECT * EXCEPT (p) FROM (SELECT a, b FROM s) AS x (p, q)", "`x`.`q`"),
        # the nearest is meant
        ("WITH r AS (SELECT a FROM s) SELECT * FROM (SELECT * EXCEPT (a) FROM s)", "*"),
        ("WITH s AS (SELECT 1 AS i, 2 AS j) SELECT * EXCEPT (i) FROM s", "`s`.`j`"),
        ("SELECT * FROM s", "*"),
    ],
)
def test_what_is_left(text: str, columns: str) -> None:
    tree = parse_sql_text(text)
    narrow_stars(tree, CATALOG)
    assert ", ".join(e.sql("spark") for e in tree.selects) == columns


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT * EXCEPT (x) FROM s", "there is no column 'x'"),
        ("SELECT s.* EXCEPT (`c d`) FROM s, r", "there is no column 'c d'"),
        ("SELECT * REPLACE (1 AS x) FROM s", "there is no column 'x'"),
        ("SELECT * EXCEPT (a) FROM s JOIN r USING (a)", "EXCEPT"),
        ("SELECT COUNT(* EXCEPT (a)) FROM s", "EXCEPT"),
        ("SELECT * EXCEPT (a) FROM s GROUP BY b", "EXCEPT"),
        ("SELECT * EXCEPT (a, b, ts) FROM s", "EXCEPT"),
        ("SELECT s.* EXCEPT (r.a) FROM s, r", "EXCEPT"),
        ("SELECT y.* EXCEPT (a) FROM s", "EXCEPT"),
        ("SELECT * EXCEPT (a) FROM nothing", "EXCEPT"),
        ("SELECT * EXCEPT (a) FROM (SELECT a + 1 FROM s) x", "EXCEPT"),
    ],
)
def test_what_is_refused(text: str, what: str) -> None:
    with pytest.raises(SqlRefusal) as caught:
        narrow_stars(parse_sql_text(text), CATALOG)
    assert what in caught.value.what
