"""Mappings that read the project's views, [views.NAME]: they are those with the views' SQL."""

from pathlib import Path

import pytest

from ontoweir.errors import MappingError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.project.project import load_project

TOML = '''
[streams.pass]
source = { format = "parquet", path = "p" }
timestamp = { column = "ts", unit = "1 minute" }
columns = { train = "int", delay = "int", site = "string" }
[streams.alarm]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "1 minute" }
columns = { train = "int", code = "int" }
[relations.trains]
source = { format = "csv", path = "t" }
columns = { train = "int", line = "string" }
[views.late]
query = "SELECT train, delay - 2 AS over, site FROM pass WHERE delay > 2 OR site IS NULL"
[views.very]
query = "SELECT * FROM late WHERE over > 5"
[views.signs]
query = """
SELECT train, 'late' AS what FROM pass WHERE delay > 2
UNION ALL SELECT p.train, 'alarm' FROM alarm p"""
[views.lined]
query = "SELECT p.train, t.line FROM pass p JOIN trains t ON t.train = p.train"
[views.counted]
query = "SELECT train, COUNT(*) AS n FROM pass GROUP BY train"
[views.both]
query = "SELECT * FROM pass, trains"
'''
LATE = "(delay > 2 OR site IS NULL)"
LATE_SIGNS = "SELECT train, 'late' AS what FROM pass WHERE delay > 2"
HEAD = "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://x/> .\n\n"


def load(folder: Path, table: str, column: str) -> tuple[MappingAssertion, ...]:
    """The assertions of a property whose values are a column."""
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(
        f'{HEAD}<#M> rr:logicalTable [ {table} ] ;\n  rr:subjectMap [ rr:template "http://x/'
        f'{{train}}" ] ;\n  rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column '
        f'"{column}" ] ] .\n'
    )
    catalog = load_project(folder, environ={}).catalog
    return load_mappings([folder / "m.ttl"], catalog).assertions


@pytest.mark.parametrize(
    ("read", "column", "written"),
    [
        (
            'rr:tableName "late"',
            "over",
            "SELECT train, delay - 2 AS over FROM pass WHERE delay > 2 OR site IS NULL",
        ),
        (
            "rr:sqlQuery \"SELECT l.train, l.over * 10 AS w FROM late l WHERE NOT l.site = 'x'\"",
            "w",
            f"SELECT train, (delay - 2) * 10 AS w FROM pass WHERE {LATE} AND NOT site = 'x'",
        ),
        (
            'rr:tableName "VERY"',
            "site",
            f"SELECT train, site FROM pass WHERE {LATE} AND (delay - 2) > 5",
        ),
        (
            'rr:tableName "signs"',
            "what",
            f"{LATE_SIGNS} UNION ALL SELECT p.train, 'alarm' FROM alarm p",
        ),
        (
            "rr:sqlQuery \"SELECT * FROM signs WHERE what = 'late'\"",
            "what",
            LATE_SIGNS,
        ),
        (
            'rr:tableName "lined"',
            "line",
            "SELECT p.train, t.line FROM pass p JOIN trains t ON t.train = p.train",
        ),
    ],
)
def test_a_view_is_its_sql(tmp_path: Path, read: str, column: str, written: str) -> None:
    found = load(tmp_path, read, column)
    wanted = load(tmp_path, f'rr:sqlQuery "{written}"', column)
    assert len(found) == len(wanted) > 0
    for one, other in zip(found, wanted, strict=True):
        assert _tell(one) == _tell(other)


def _tell(made: MappingAssertion) -> str:
    """An assertion, whatever the aliases of its tables."""
    text = repr((made.predicate, made.subject, made.object, made.source))
    aliases = dict.fromkeys(t.alias for t in made.source.tables)
    for number, alias in enumerate(aliases):
        text = text.replace(f"'{alias}'", f"'{number}'")
    return text


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (
            'rr:sqlQuery "SELECT l.train FROM late l JOIN pass p ON p.train = l.train"',
            "m.ttl:4: <#M>: the view 'late' beside other tables",
        ),
        ('rr:sqlQuery "SELECT trein AS train FROM late"', "unknown column trein of the view"),
        ('rr:sqlQuery "SELECT train FROM late ORDER BY train"', "ORDER BY beside the view 'late'"),
        ('rr:tableName "counted"', "GROUP BY"),
        ('rr:tableName "both"', "* of several tables in a view"),
        ('rr:tableName "latest"', "unknown table 'latest'"),
    ],
)
def test_what_mappings_do_not_read_is_refused(tmp_path: Path, read: str, said: str) -> None:
    with pytest.raises(MappingError) as refused:
        load(tmp_path, read, "train")
    assert said in str(refused.value)
