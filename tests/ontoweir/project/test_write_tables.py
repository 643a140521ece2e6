"""A written project declares all that the catalog declares of its tables."""

from dataclasses import replace
from pathlib import Path

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, DataSource, Relation, Stream
from ontoweir.project.project import load_project
from ontoweir.project.write_tables import list_related, write_tables
from ontoweir.rewriter.sql.parse_sql import parse_sql

TOML = """
[streams."odd name"]
source = { format = "csv", path = "x.csv" }
timestamp = { column = "ts", unit = "5 minutes", start = "2014-08-01T00:00:00" }
max_per_timestamp = 7
keys = [["id"], ["n", "ts"]]
references = [{ columns = ["id"], relation = "q", to = ["k"] }]
lags = [{ behind = "before", columns = ["id"], to = ["id"], within = "1 hour" },
  { behind = "before", columns = ["id"], to = ["id"], rows = 9, every = "1 hour", matches = "one" }]
[streams."odd name".columns]
id = "int"
n = { type = "string", enum = ["a", "it's \\"b\\""] }
p = { type = "decimal(6,2)", min = 0.5, max = 12 }
d = { type = "date", min = "2014-01-01", max = "2015-01-01" }
f = { type = "double", min = 0.5 }
b = "boolean"
t = "timestamp"
e = { type = "int", enum = [6, -5, 0] }

[streams.before]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { id = "int" }

[streams.other]
source = { format = "parquet", path = "o.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { id = "int" }

[relations.q]
source = { format = "parquet", path = "q.parquet" }
keys = [["k"]]
max_rows = 4
references = [{ columns = ["r"], relation = "r", to = ["k"] }]
columns = { k = "int", r = "int" }

[relations.r]
source = { format = "parquet", path = "r.parquet" }
columns = { k = "int" }
"""


def _load(folder: Path, text: str) -> Catalog:
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(text, encoding="utf-8")
    return load_project(folder, environ={}).catalog


def _declared(table: Stream | Relation) -> Stream | Relation:
    """What is declared, without the places in files."""
    columns = tuple(replace(c, source=None) for c in table.columns)
    plain = replace(table, data=DataSource("", None), columns=columns, source=None)
    if isinstance(plain, Stream):
        return replace(plain, lags=tuple(replace(lag, source=None) for lag in plain.lags))
    return plain


def test_everything_is_declared_again(tmp_path: Path) -> None:
    catalog = _load(tmp_path / "one", TOML)
    names = list_related(catalog, ["odd name"])
    assert names == ["before", "odd name", "q", "r"]
    text = write_tables(catalog, {name: f"{name}.parquet" for name in names})
    again = _load(tmp_path / "two", f"[project]\n{text}")
    assert "other" not in again.streams
    for name in names:
        assert _declared(again.table(name)) == _declared(catalog.table(name))


def test_the_same_verdict(tmp_path: Path) -> None:
    catalog = _load(tmp_path / "one", TOML)
    text = write_tables(catalog, dict.fromkeys(list_related(catalog, ["odd name", "before"]), "x"))
    again = _load(tmp_path / "two", f"[project]\n{text}")
    sql = "SELECT DISTINCT x.p FROM `odd name` x"
    found = [check_query(parse_sql(sql, c, name="q", file="q.sql"), c) for c in (catalog, again)]
    assert found[0].bound == found[1].bound
    assert found[0].name == found[1].name == "conditionally-bounded"
