"""What a live run is begun with: changed since the last time, misspelt, or gone while it starts."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError, OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_run_live import (
    TOML,
    open_queries,
    read_output,
    replayed,
    write_history,
)
from tests.runtime.live.test_serving import register, status
from tests.waiting import wait_until

HERE = Path(__file__).parent.parent


def _open(folder: Path, *changes: tuple[str, str]) -> Any:
    open_queries(folder, ["matches"])
    text = TOML.format(folder)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace, [workspace.compile_sql(folder / "matches.sql")]


def _run(folder: Path, opened: Any, spark: SparkSession) -> Any:
    options = RunOptions(folder / "check", folder / "out", once=True, progress=False)
    return run_queries(opened[0], opened[1], options, spark)


IDLE = ('unit = "1 second"', 'unit = "1 second", idle = "1 hour"')


def test_idle_is_added_and_removed_again(spark: SparkSession, tmp_path: Path) -> None:
    """As a message advises: the checkpoint goes on with a source more, and with one less."""
    for part in range(4):
        write_history(tmp_path, 2 * part, 2 * part + 2)
        opened = _open(tmp_path, *([IDLE] if part in (1, 2) else []))
        assert _run(tmp_path, opened, spark)["tuples"] == 60
    found = read_output(tmp_path / "out", "matches")
    assert found == replayed(tmp_path, opened[0], opened[1][0], spark)


@pytest.mark.parametrize("form", ["no-such-format", "socket"])
def test_an_unknown_format(form: str, spark: SparkSession, tmp_path: Path) -> None:
    write_history(tmp_path, 0, 1)
    opened = _open(tmp_path, ('format = "parquet"', f'format = "{form}"'))
    with pytest.raises(OntoweirError) as caught:
        _run(tmp_path, opened, spark)
    assert caught.value.exit_code == 2
    assert "internal" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_a_backtick_in_names(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Of a stream, and of a column."""
    (tmp_path / "d").mkdir()
    rows: list[dict[str, Any]] = [{"ts": 1_000_000 * n, "a`b": n} for n in range(5)]
    if form == "json":
        rows = [{**row, "ts": f"1970-01-01T00:00:0{row['ts'] // 1_000_000}"} for row in rows]
        (tmp_path / "d" / "1.json").write_text("\n".join(map(json.dumps, rows)))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d" / "1.parquet")
    (tmp_path / "ontoweir.toml").write_text(
        f'[streams."s`t"]\nsource = {{ format = "{form}", path = "{tmp_path}/d" }}\n'
        'timestamp = { column = "ts", unit = "1 second" }\n'
        '[streams."s`t".columns]\n"a`b" = "int"\n'
    )
    (tmp_path / "q.sql").write_text('SELECT x."a`b" AS v FROM "s`t" x WHERE x."a`b" > 1')
    workspace = Workspace(load_project(tmp_path, environ={}))
    opened = workspace, [workspace.compile_sql(tmp_path / "q.sql")]
    for told in (False, True):
        check, out = tmp_path / f"check{told}", tmp_path / f"out{told}"
        listeners = (_listener(),) if told else ()
        options = RunOptions(check, out, once=True, progress=False, listeners=listeners)
        assert run_queries(opened[0], opened[1], options, spark)["tuples"] == 5
        assert [row[0] for row in read_output(out, "q")] == [2, 3]


def _listener() -> Any:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...
        def onQueryProgress(self, event: Any) -> None: ...
        def onQueryIdle(self, event: Any) -> None: ...
        def onQueryTerminated(self, event: Any) -> None: ...

    return Listener()


def test_an_empty_folder_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    """No file need be there for Spark to look at; twin: no folder."""
    write_history(tmp_path, 0, 1)
    for file in tmp_path.glob("[su]/*"):
        file.unlink()
    opened = _open(tmp_path)
    assert _run(tmp_path, opened, spark)["tuples"] == 0
    write_history(tmp_path, 0, 1)
    assert _run(tmp_path, opened, spark)["tuples"] == 30
    opened = _open(tmp_path, (f"{tmp_path}/s", f"{tmp_path}/none"))
    options = RunOptions(tmp_path / "c", tmp_path / "o", once=True, progress=False)
    with pytest.raises(DataError, match="s cannot be read as a stream"):
        run_queries(opened[0], opened[1], options, spark)


_KILLED = """
import sys
sys.path.insert(0, {root!r})
from ontoweir.errors import OntoweirError
from ontoweir.runtime.spark import start_session
from tests.runtime.live_driver import kill_java
start = start_session.start_java
def killed(conf):
    gateway = start(conf)
    kill_java()
    return gateway
start_session.start_java = killed
try:
    start_session.start_session({{"spark.master": "local[1]"}})
except OntoweirError as error:
    print(error)
    raise SystemExit(error.exit_code)
"""


@pytest.mark.slow
def test_a_java_process_that_is_killed_while_it_starts(root: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _KILLED.format(root=str(root))],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 3, ran.stderr[-2000:]
    assert ran.stdout.startswith("Spark does not start: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_server_whose_java_process_dies(spark: SparkSession, tmp_path: Path) -> None:
    """Every query is failed, says why, and the server ends with exit code 3."""
    write_history(tmp_path, 0, 2)
    open_queries(tmp_path, ["matches", "sums"])
    for name in ("matches", "sums"):
        register(tmp_path, name)
    command = [sys.executable, str(HERE / "serve_driver.py"), str(tmp_path), "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(
            lambda: all(status(tmp_path, n)["tuples"] for n in ("matches", "sums")),
            lambda: process.poll() is None,
        )
        for child in Path("/proc").iterdir():
            with contextlib.suppress(OSError, IndexError):
                of = (child / "stat").read_text().rsplit(")", 1)[1].split()
                if child.name.isdigit() and int(of[1]) == process.pid:
                    os.kill(int(child.name), signal.SIGKILL)
        said, _ = process.communicate()
    assert process.returncode == 3
    assert b"registered queries failed" in said
    for name in ("matches", "sums"):
        held = status(tmp_path, name)
        assert held["state"] == "failed"
        assert "its Java process has gone" in str(held["error"])
