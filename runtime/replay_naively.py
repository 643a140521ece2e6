"""Evaluate a query as the plain Spark SQL join over the whole history, unchecked."""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.errors import QueryError, RunError
from ontoweir.mappings.catalog import Catalog, Stream
from ontoweir.rewriter.print_sql import print_sql
from ontoweir.rewriter.spj import SpjUnion
from ontoweir.runtime.load_statics import load_statics
from ontoweir.runtime.read_source import BAD, locate_source, read_source
from ontoweir.runtime.render_results import AT, MULTIPLICITY, result_schema
from ontoweir.runtime.replay_job import OutputFormat, ReplaySummary
from ontoweir.runtime.start_session import start_session
from ontoweir.runtime.write_results import ResultWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class UncheckedQuery:
    """A query without a verdict: its evaluation may need unbounded memory and time.

    Raises:
        QueryError: `allow_unbounded` is not True.
    """

    union: SpjUnion
    allow_unbounded: bool

    def __post_init__(self) -> None:
        if self.allow_unbounded is not True:
            raise QueryError(
                f"the query {self.union.name} has no bounded plan",
                why="its memory may grow with the history",
                fix="repair the query (`ontoweir check` proposes how), or allow it explicitly",
                source=self.union.source,
            )


def replay_naively(
    query: UncheckedQuery,
    catalog: Catalog,
    *,
    output: Path,
    format: OutputFormat,
    spark: "SparkSession | None" = None,
) -> ReplaySummary:
    """The same results as a replay, by Spark's own joins over everything at once.

    The query has no aggregates. Rows are not rejected, and IRIs are not percent-encoded. Warns
    (UserWarning).

    Raises:
        DataError: data is missing or unreadable.
        RunError: Spark failed.
    """
    from pyspark.errors import PySparkException

    union = query.union
    warnings.warn(
        f"{union.name} runs unchecked: its memory and time may grow without bound",
        UserWarning,
        stacklevel=2,
    )
    begun = time.perf_counter()
    schema = result_schema(union, catalog)
    assert union.aggregation is None
    with ResultWriter(output, format, schema) as writer:
        home = spark or start_session()
        session = home.newSession()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        tables = {o.table for d in union.disjuncts for o in d.occurrences}
        names = sorted(t for t in tables if t in catalog.streams)
        for name in names:
            _view(session, catalog.streams[name], catalog, home)
        statics = load_statics(home, catalog, [t for t in tables if t in catalog.relations])
        for name, table in statics.items():
            session.createDataFrame(table).createOrReplaceTempView(name)
        try:
            tuples = sum(session.table(n).count() for n in names)
            found = session.sql(naive_sql(union, catalog)).toArrow()
        except PySparkException as error:
            raise RunError(
                f"Spark failed: {str(error).strip().splitlines()[0][:300]}",
                why="the plain join runs in Spark's memory",
                fix="give Spark more memory, or make the query bounded",
            ) from error
        ordered = found.select(schema.names).cast(schema)
        keys = [(n, "ascending") for n in (AT, *union.variables)]
        writer.write(ordered.sort_by(keys))
        writer.commit()
    seconds = time.perf_counter() - begun
    rate = tuples / seconds if seconds > 0 else 0.0
    markers = len(pa.compute.unique(found.column(AT)))
    return ReplaySummary(markers, tuples, writer.rows, 0, None, seconds, rate)


def _view(session: "SparkSession", stream: Stream, catalog: Catalog, home: "SparkSession") -> None:
    from pyspark.sql import functions as fn

    located = locate_source(stream.data, stream.name, catalog.file)
    frame = read_source(
        session, stream.data, located.path, stream.columns, stream.timestamp, home=home
    )
    moment = fn.timestamp_micros(fn.col(f"`{stream.timestamp}`"))
    frame = frame.where(fn.col(BAD).isNull() & fn.col(f"`{stream.timestamp}`").isNotNull())
    frame.drop(BAD).withColumn(stream.timestamp, moment).createOrReplaceTempView(stream.name)


def naive_sql(union: SpjUnion, catalog: Catalog) -> str:
    """Spark SQL of a query, with `at` and, for the bag semantics, `multiplicity`.

    Raises:
        QueryError: a disjunct has no stream.
    """
    import sqlglot
    from sqlglot import exp

    selects = []
    for query in union.disjuncts:
        times = [
            f"`{o.alias}`.`{catalog.streams[o.table].timestamp}`"
            for o in query.occurrences
            if o.table in catalog.streams
        ]
        if not times:
            raise QueryError(
                "the query reads no stream",
                why="a replay goes from marker to marker of its streams",
                fix="query static data with Spark SQL directly",
                source=union.source,
            )
        single = SpjUnion(union.name, union.variables, (query,), False)
        tree = sqlglot.parse_one(print_sql(single, catalog, comments=False), dialect="spark")
        assert isinstance(tree, exp.Select)
        latest = times[0] if len(times) == 1 else f"greatest({', '.join(times)})"
        selects.append(tree.select(f"{latest} AS `{AT}`", dialect="spark").sql(dialect="spark"))
    schema = result_schema(union, catalog)
    names = [f"`{n}`" for n in union.variables]
    parts = []
    for number, text in enumerate(selects):
        cells = [
            f"CAST(`{n}` AS STRING) AS `{n}`"
            if pa.types.is_string(schema.field(n).type)
            else f"`{n}`"
            for n in union.variables
        ]
        parts.append(f"SELECT {', '.join([*cells, f'`{AT}`'])} FROM ({text}) AS d{number}")
    body = " UNION ALL ".join(parts)
    if union.distinct:
        by = f" GROUP BY {', '.join(names)}" if names else " HAVING count(*) > 0"
        return f"SELECT {', '.join([*names, f'min(`{AT}`) AS `{AT}`'])} FROM ({body}){by}"
    columns = ", ".join([*names, f"`{AT}`"])
    return f"SELECT {columns}, count(*) AS `{MULTIPLICITY}` FROM ({body}) GROUP BY {columns}"
