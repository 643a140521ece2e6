"""Replays and live runs derive the same from a query and the catalog."""

import pickle
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.runtime.engine.configure_run import configure_query, configure_run
from ontoweir.runtime.live.make_live_job import make_live_job
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """
[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
references = [{ columns = ["place"], relation = "r", to = ["id"] }]
columns.k = { type = "int", min = 0, max = 9 }
columns.place = { type = "int", min = 0, max = 9 }
columns.x = { type = "float" }

[relations.r]
source = { format = "csv", path = "r.csv" }
columns.id = { type = "int", min = 0, max = 9 }
columns.name = "string"
"""


def test_columns_of_streams_and_relations(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, TOML)
    job = make_sql_job("SELECT k FROM s", catalog, bound=0)
    config = configure_run([job], catalog)
    assert config.relations == {"r": ("id",)}
    columns = config.streams["s"]
    assert columns.used == {"k", "place", "ts"}
    assert [c.name for c in columns.enforced] == ["x"]  # text in CSV need not be of its type
    assert columns.select(columns.spare()) == ("k", "place", "x")
    assert columns.select(columns.spare(frozenset({"x"}))) == ("k", "place")


def test_a_live_run_and_a_replay_have_the_same_context(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, TOML)
    job = make_sql_job("SELECT DISTINCT s.k, r.name FROM s, r WHERE s.place = r.id", catalog)
    statics = {"r": pa.table({"id": [1], "name": ["one"], "unused": [0]})}
    (live,) = make_live_job([job], catalog, statics, {}).queries
    config = configure_run([job], catalog)
    context = config.make_context(
        config.queries[0], live.work.histories, statics, key="q", watch=live.work.watch
    )
    assert replace(live.work, key="q") == context
    assert context.distinct
    assert context.statics["r"].column_names == ["id", "name"]


def test_groups_are_not_made_distinct_again(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, TOML)
    job = make_sql_job("SELECT k FROM s", catalog)
    count = Aggregate("n", AggregateFunction.COUNT, None)
    grouped = replace(job.union, aggregation=Aggregation(("k",), (count,), ("k", "n")))
    config = configure_query(replace(job, union=replace(grouped, distinct=True)))
    assert not config.distinct
    assert config.schema.names == ["k", "n", "at"]


def test_a_relation_without_a_column_in_use_keeps_its_rows_where_it_is_sent(tmp_path: Path) -> None:
    more = '[relations.q]\nsource = { format = "csv", path = "q.csv" }\ncolumns.z = "int"\n'
    catalog = make_catalog(tmp_path, TOML + more)
    job = make_sql_job("SELECT s.k FROM s, q", catalog)
    statics = {"r": pa.table({"id": [1]}), "q": pa.table({"z": [1, 2, 3]})}
    config = configure_run([job], catalog)
    context = config.make_context(config.queries[0], (), statics, key="q")
    assert config.relations["q"] == ()
    assert pickle.loads(pickle.dumps(context.statics["q"])).num_rows == 3
