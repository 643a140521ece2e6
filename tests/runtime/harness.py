"""Small projects for end-to-end replays: data, catalog, plan, run, rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from ontoweir.checker.model.declarations import Declaration, list_declarations
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary

Row = tuple[Any, ...]


def make_catalog(folder: Path, toml: str) -> Catalog:
    """The catalog of a project file in `folder`."""
    (folder / "ontoweir.toml").write_text(toml)
    return load_project(folder, environ={}).catalog


def make_job(union: SpjUnion, catalog: Catalog, *, bound: int | None = None) -> QueryJob:
    """A replay of all satisfiable disjuncts."""
    plans: list[SynopsisPlan] = []
    declared: dict[Declaration, None] = {}
    for disjunct in union.disjuncts:
        form = normalise_query(disjunct, distinct=union.distinct, catalog=catalog)
        if not form.satisfiable:
            continue
        plan = make_plan(form)
        assert isinstance(plan, SynopsisPlan), plan
        plans.append(plan)
        declared.update(dict.fromkeys(list_declarations(disjunct, catalog)))
    return QueryJob(union.name, union, tuple(plans), catalog, bound, tuple(declared))


def make_sql_job(sql: str, catalog: Catalog, *, bound: int | None = None) -> QueryJob:
    """A replay of plain SQL."""
    return make_job(parse_sql(sql, catalog, name="q", file="q.sql"), catalog, bound=bound)


def read_rows(file: Path) -> list[Row]:
    """The rows of a result, `at` as text without the zone."""
    table = pcsv.read_csv(file) if file.suffix == ".csv" else pq.read_table(file)
    return [tuple(_plain(v) for v in row.values()) for row in table.to_pylist()]


def _plain(value: object) -> object:
    shown = getattr(value, "strftime", None)
    if shown is None or not hasattr(value, "hour"):
        return value
    return shown("%Y-%m-%d %H:%M:%S")


def run(
    job: QueryJob, spark: SparkSession, folder: Path, **options: Any
) -> tuple[list[Row], ReplaySummary]:
    """Replay to Parquet, on Spark unless told otherwise; the rows, and the summary."""
    output = folder / "out" / "result.parquet"
    progress = options.pop("progress", None)
    request = ReplayRequest(output, "parquet", **{"engine": "spark", **options})
    summary = replay_history(job, request, spark=spark, progress=progress)
    rows = read_rows(output)
    assert len(rows) == summary.results
    return rows, summary


def write_csv(file: Path, lines: list[Mapping[str, object]]) -> None:
    """A CSV with a header."""
    names = list(lines[0])
    text = [",".join(names)]
    text += [",".join("" if row[n] is None else str(row[n]) for n in names) for row in lines]
    file.write_text("\n".join(text) + "\n")
