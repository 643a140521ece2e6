"""What is nested in Parquet and Avro, live: as in JSON lines, and as in a replay."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.runtime.in_process import replay_here
from tests.runtime.live.test_one_rule import _jobs, _live
from tests.runtime.packed.test_nested_columns import ELEMENTS, TOML, WRITERS, _make

SQL = "SELECT s.device, s.x, s.kind, s.v, s.q FROM s WHERE s.q < 4"


def _count(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How often each answer is given."""
    found: dict[str, int] = {}
    for row in rows:
        key = str({name: value for name, value in row.items() if name != "multiplicity"})
        found[key] = found.get(key, 0) + int(row.get("multiplicity", 1))
    return found


@pytest.mark.parametrize("form", ["parquet", "avro", "arrow"])
def test_as_a_replay_reads(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last timestamp of a live run waits for a later one; no Spark is asked."""
    found: dict[str, dict[str, int]] = {}
    for mine in (form, "json"):
        folder = tmp_path / mine
        (folder / "s").mkdir(parents=True)
        rows = _make(Random(11), 300)
        files = []
        for number in range(3):
            files.append(folder / "s" / f"{number}.{mine}")
            WRITERS[mine](rows[number * 100 : (number + 1) * 100], files[-1])
        toml = TOML.replace("[project]", "").replace("streams.reading", "streams.s")
        toml = toml.format(form=mine, path="s", unnest=', unnest = "values"') + ELEMENTS
        _, job, live = _jobs(folder, toml, SQL)
        whole, _ = replay_here(monkeypatch, job, folder / "out.parquet", ranges=1)
        answers, reasons, _ = _live(live, files)
        last = max(row["at"] for row in whole)
        assert _count(answers) == _count([row for row in whole if row["at"] < last])
        assert not reasons
        found[mine] = _count(answers)
    assert found[form] == found["json"]
    assert sum(found[form].values()) > 50
