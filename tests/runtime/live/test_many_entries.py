"""What many files at once, and many registered queries, do not cost."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ontoweir.registry import share_intake
from ontoweir.registry.share_intake import SharedEntries
from tests.runtime.live.test_run_live import open_queries, write_history
from tests.runtime.live.test_serving import register, serve


def count_jobs(spark: SparkSession) -> int:
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def test_local_files_are_listed_without_a_job_of_sparks(
    spark: SparkSession, tmp_path: Path
) -> None:
    """More files in a micro-batch than Spark lists in the driver by default (32)."""
    write_history(tmp_path, 0, 40)
    open_queries(tmp_path, ["matches"])
    catalog = tmp_path / "ontoweir.toml"
    catalog.write_text(catalog.read_text().replace('PerTrigger = "1"', 'PerTrigger = "40"'))
    register(tmp_path, "matches")
    before = count_jobs(spark)
    summary = serve(tmp_path, spark)
    assert summary["tuples"] == 40 * 30
    assert summary["queries"]["matches"]["batch"] == 0  # one micro-batch
    assert count_jobs(spark) == before


@pytest.mark.parametrize("given", [1, 2, 3])
def test_who_has_waited_longest_comes_first(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark: of seven that all have changed, each is shown once before any is again."""
    monkeypatch.setattr(share_intake, "_AT_ONCE", given)
    shown: list[str] = []

    class Paused:
        def await_pause(self, seconds: float) -> None: ...

    class Run:
        intake = Paused()

    def show(self: SharedEntries, running: str) -> bool:
        shown.append(running)
        return running != "c"  # nothing has come for it

    monkeypatch.setattr(SharedEntries, "show", show)
    entries = {name: name for name in "abcdefg"}
    shared = SharedEntries(Path(), Run(), None, entries)  # type: ignore[arg-type]
    for _ in range(21):
        shared._show_some(0.0)
    assert shown[:14] == list("abcdefgabcdefg")[: len(shown)]
    counts = {name: shown.count(name) for name in entries}
    assert max(counts.values()) - min(counts.values()) <= 1
    del entries["a"]
    shared._show_some(0.0)
    shown.clear()
    for _ in range(7):
        shared._show_some(0.0)
    assert "a" not in shown
