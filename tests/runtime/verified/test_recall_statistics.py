"""A relation that is only referenced is not read again, while its file and declaration stay."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import DataError, RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.replay import replay as replaying
from ontoweir.runtime.sources import identify_file as module
from ontoweir.runtime.statics import load_statics as loading
from ontoweir.runtime.statics.gather_statistics import gather_statistics
from ontoweir.runtime.verified.recall_statistics import keep_statistics, recall_statistics
from ontoweir.runtime.verified.verification import begin_verification
from tests.runtime.harness import make_catalog

TOML = """
[project]
queries = []
[streams.S]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
references = [{ columns = ["k"], relation = "R", to = ["k"] }]
[streams.S.columns]
k = "string"
[relations.R]
source = { format = "parquet", path = "r.parquet" }
keys = [["k"]]
[relations.R.columns]
k = "string"
n = "decimal(5, 2)"
day = "date"
"""
JOIN = "SELECT x.k FROM S x, S y WHERE x.k = y.k AND x.ts < y.ts"
NAMED = "SELECT x.k, r.n FROM S x, R r WHERE x.k = r.k"
KEYS = ("a", "é", "")


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once."""
    monkeypatch.setattr(module, "_SETTLED", -(10**12))


def write_register(folder: Path, *keys: str) -> pa.Table:
    """The relation, with some keys."""
    numbers = pa.array(range(len(keys))).cast(pa.decimal128(38, 2)).cast(pa.decimal128(5, 2))
    days = pa.array([None, *range(1, len(keys))], pa.int32()).cast(pa.date32())
    table = pa.table({"k": list(keys), "n": numbers, "day": days})
    pq.write_table(table, folder / "r.parquet")
    return table


class Project:
    """A project with a cache; notes which relations are read."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.read, self.columns = folder, Counter[str](), set[str]()
        self.cache = Cache(folder / "cache")
        self.cache.folder.mkdir()
        times = pa.array(range(0, 60_000_000, 1_000_000), pa.int64()).cast(pa.timestamp("us"))
        pq.write_table(pa.table({"ts": times, "k": [*KEYS, "b"] * 15}), folder / "s.parquet")
        (folder / "ontoweir.toml").write_text(TOML)
        write_register(folder, *KEYS)
        read: Any = vars(loading)["read_relation"]

        def noted(relation: Any, *rest: Any) -> Any:
            self.read[relation.name] += 1
            self.columns = {c.name for c in relation.columns}
            return read(relation, *rest)

        monkeypatch.setattr(loading, "read_relation", noted)

    def run(self, sql: str, *, verify: bool = False) -> tuple[Any, Any, int]:
        """What is answered; the rejected rows and the bound; how often the relation was read."""
        (self.folder / "q.sql").write_text(sql)
        workspace = Workspace(load_project(self.folder), cache=self.cache)
        output = self.folder / "out.parquet"
        options = ReplayOptions(output, progress=False, engine="driver", verify=verify)
        self.read.clear()
        said = replay_query(workspace, workspace.compile_sql(self.folder / "q.sql"), options)
        rows = pq.read_table(output).to_pylist()
        return rows, (said["rejects"], said["bound_rows"]), self.read["R"]


def test_it_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, monkeypatch)
    rows, said, read = project.run(JOIN)
    assert read == 1
    assert said[0] == {"S.k is not in R.k": 15}
    assert project.run(JOIN) == (rows, said, 0)
    assert project.run(JOIN, verify=True) == (rows, said, 1)
    assert project.run(NAMED)[2] == 1  # it asks for the relation's rows


def test_what_changes_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, monkeypatch)
    project.run(JOIN)
    write_register(tmp_path, *KEYS, "b")
    rows, said, read = project.run(JOIN)
    assert (read, said[0]) == (1, {})
    assert project.run(JOIN) == (rows, said, 0)
    write_register(tmp_path, *KEYS, "b", "b")
    with pytest.raises(DataError, match="occurs 2 times"):
        project.run(JOIN)
    with pytest.raises(DataError, match="occurs 2 times"):  # what is wrong is not kept
        project.run(JOIN)


def test_statistics_are_those_that_were_kept(tmp_path: Path) -> None:
    catalog, cache = make_catalog(tmp_path, TOML), Cache(tmp_path / "cache")
    cache.folder.mkdir()
    found = gather_statistics({"R": write_register(tmp_path, *KEYS)})
    before = begin_verification(cache, catalog, ["S", "R"], again=False)
    assert recall_statistics(before, ["R"]) == Statistics()
    keep_statistics(before, found, ["R"])
    assert recall_statistics(before, ["R"]) == found
    assert recall_statistics(replace(before, again=True), ["R"]) == Statistics()
    write_register(tmp_path, *KEYS)
    after = begin_verification(cache, catalog, ["S", "R"], again=False)
    assert recall_statistics(after, ["R"]) == Statistics()


def test_what_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    catalog, cache = make_catalog(tmp_path, TOML), Cache(tmp_path / "cache")
    cache.folder.mkdir()
    table = write_register(tmp_path, *KEYS)
    before = begin_verification(cache, catalog, ["R"], again=False)
    write_register(tmp_path, *KEYS, "b")
    keep_statistics(before, gather_statistics({"R": table}), ["R"])
    after = begin_verification(cache, catalog, ["R"], again=False)
    assert recall_statistics(after, ["R"]) == Statistics()


def test_what_changes_while_it_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is answered by rows that were held to nothing."""
    project = Project(tmp_path, monkeypatch)
    project.run(NAMED)
    load: Any = vars(replaying)["load_statics"]

    def late(*given: Any, **named: Any) -> Any:
        loaded = load(*given, **named)
        write_register(tmp_path, *KEYS, "b")
        return loaded

    monkeypatch.setattr(replaying, "load_statics", late)
    (tmp_path / "out.parquet").unlink()
    with pytest.raises(RunError, match="the files of R, S changed while they were replayed"):
        project.run(NAMED)
    assert not (tmp_path / "out.parquet").exists()


def test_only_columns_in_use_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, monkeypatch)
    first = project.run(NAMED)
    assert project.columns == {"k", "n", "day"}
    assert project.run(NAMED) == first
    assert project.columns == {"k", "n"}
