"""Random projects of static relations: the printed SQL's bags of answers are Ontop's, and rdflib's.

The printed SQL runs in DuckDB. It does not percent-encode (docs/mappings.md), so encoded values
are decoded before they are compared.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.ontop.run_ontop import MISSING, ask_ontop, list_jars
from tests.oracle.database import insert_rows, open_database
from tests.sparql_counts.ask_rdflib import Answers, answer_static, translate_query
from tests.sparql_counts.case import Case, Table
from tests.sparql_counts.compare_answers import drop_empty_group, is_grouped
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import Taste
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.write_case import describe_files, show_case, write_case, write_query

PROJECTS, QUERIES = 25, 3
TASTE = Taste(static=True, plain=True)


@pytest.mark.ontop
def test_bags_of_answers_are_ontops(tmp_path: Path) -> None:
    if not list_jars():
        pytest.skip(MISSING)
    cases = [_make_case(seed) for seed in range(PROJECTS)]
    folders = [tmp_path / str(i) for i in range(PROJECTS)]
    for asked, folder in zip(cases, folders, strict=True):
        _write(asked[0], folder)
        for i, case in enumerate(asked):
            (folder / "queries" / f"{i}.rq").write_text(write_query(case.query), encoding="utf-8")
    compared = 0
    for asked, folder, told in zip(cases, folders, ask_ontop(folders), strict=True):
        project = Project(folder)
        if not told:
            continue
        for i, case in enumerate(asked):
            theirs = told[str(i)]
            assert not theirs.error, f"{theirs.error}\n{show_case(case)}"
            (folder / "q.rq").write_text(write_query(case.query), encoding="utf-8")
            try:
                ours = _ask_printed_sql(folder, case)
            except QueryError:
                continue
            compared += 1
            query = translate_query(write_query(case.query))
            answers = answer_static(query, project.read_graphs())
            if is_grouped(case) and not case.query.group:
                answers = drop_empty_group(answers)
                if not answers:
                    continue  # SPARQL has a row without a match, a replay has none
            wanted = _plain_all(answers.elements())
            columns = [name.split()[-1].strip("?)") for name in case.query.head]
            places = [theirs.names.index(c) for c in columns]
            found = _plain_all(tuple(row[p] for p in places) for row in theirs.rows)
            assert ours == wanted, f"rdflib: {wanted}\nours: {ours}\n{show_case(case)}"
            assert ours == found, f"Ontop: {found}\nours: {ours}\n{show_case(case)}"
    assert compared > 0.7 * PROJECTS * QUERIES


def _make_case(seed: int) -> list[Case]:
    """The cases of one project: facts, graphs, and templates that collide are left out, as Ontop
    takes templates to be injective."""
    case = random_case(seed, TASTE)
    maps = tuple(
        replace(m, graph="", objects=tuple(o for o in m.objects if "http://c/" not in o[1]))
        for m in case.maps
    )
    queries = [case.query, *(random_query(QUERIES * seed + i, case, TASTE) for i in (1, 2))]
    plain = replace(case, maps=maps, facts=())
    return [replace(plain, query=replace(q, graphs=())) for q in queries]


def _write(case: Case, folder: Path) -> None:
    """A case as the pipeline and as Ontop read it."""
    (folder / "queries").mkdir(parents=True)
    write_case(case, folder)
    files = describe_files(case)
    (folder / "ontology.ttl").write_text(files["o.ttl"], encoding="utf-8")
    base = "@base <http://m/> .\n"
    (folder / "mapping.ttl").write_text(base + files["m.ttl"], encoding="utf-8")
    sql = "".join(_declare(table, case) for table in case.tables)
    (folder / "tables.sql").write_text(sql, encoding="utf-8")


def _declare(table: Table, case: Case) -> str:
    kinds = {"int": "BIGINT", "string": "VARCHAR(20)"}
    columns = [f"{name} {kinds[kind]}" for name, kind in table.columns]
    columns += [f"UNIQUE ({', '.join(key)})" for key in table.keys if not table.stream]
    text = f"CREATE TABLE {table.name} ({', '.join(columns)});\n"
    if table.stream:
        return text
    for row in case.rows[table.name]:
        cells = ("NULL" if c is None else f"'{c}'" if isinstance(c, str) else str(c) for c in row)
        text += f"INSERT INTO {table.name} VALUES ({', '.join(cells)});\n"
    return text


def _ask_printed_sql(folder: Path, case: Case) -> Answers:
    """What `ontoweir rewrite --show sql` prints, run by DuckDB."""
    workspace = Workspace(load_project(folder, environ={}))
    union = workspace.compile("q").union
    sql = print_sql(union, workspace.project.catalog, dialect="duckdb", comments=False)
    base = open_database()
    for table in case.tables:
        kinds = {"int": "BIGINT", "string": "VARCHAR"}
        columns = ", ".join(f'"{name}" {kinds[kind]}' for name, kind in table.columns)
        base.execute(f'CREATE TEMP TABLE "{table.name}" ({columns})')
        if not table.stream:
            insert_rows(base, f'"{table.name}"', "?, ?, ?", case.rows[table.name])
    found = _plain_all(base.execute(sql).fetchall())
    base.close()
    return found


def _plain_all(rows: Iterable[tuple[object, ...]]) -> Answers:
    """Bags of rows: numbers in one form, values decoded; without the group of no match."""
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(cell: object) -> str:
    text = unquote(str(cell))
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text
