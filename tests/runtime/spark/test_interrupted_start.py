"""Ctrl-C while Java starts, or while it is called."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkConf

from ontoweir.cli import main
from ontoweir.end_on_term import StopEvent, Terminated, begin
from ontoweir.runtime.spark.start_java import await_end, start_java

PROJECT = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int" }
"""


def test_a_java_process_whose_start_is_interrupted_does_not_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(_: list[str], **settings: Any) -> subprocess.Popen[bytes]:
        # like Java: it does not hear Ctrl-C, and is there when its stdin ends
        started.append(subprocess.Popen(["sleep", "600"], **settings))
        return started[-1]

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr("pyspark.java_gateway.Popen", start)
    monkeypatch.setattr("pyspark.java_gateway.time", SimpleNamespace(sleep=interrupt))
    with pytest.raises(KeyboardInterrupt):
        start_java(SparkConf(loadDefaults=False))
    [process] = started
    ended = process.poll()
    process.kill()
    assert process.stdin is not None
    process.stdin.close()
    assert ended is not None


def test_py4j_writes_no_traceback() -> None:
    """What py4j.java_gateway logs, by the root logger, when a call is interrupted."""
    assert main(["explain", "OW203"]) == 0
    root = logging.getLogger()
    for file, said in (("/x/py4j/java_gateway.py", False), ("/x/another.py", True)):
        record = root.makeRecord("root", logging.ERROR, file, 1, "while sending", (), None)
        assert bool(root.filter(record)) is said


@pytest.mark.parametrize(
    ("sent", "served", "code", "said"),
    [
        (signal.SIGTERM, False, 143, "ended by SIGTERM; nothing is half written\n"),
        (signal.SIGINT, False, 130, "interrupted; nothing is half written\n"),
        (signal.SIGTERM, True, 0, ""),
    ],
)
def test_a_live_run_ends_while_spark_starts(
    tmp_path: Path, sent: signal.Signals, served: bool, code: int, said: str
) -> None:
    """A program in Spark's place says that it has been started, and waits."""
    (tmp_path / "s").mkdir()
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    program, pipe = tmp_path / "bin" / "spark-submit", tmp_path / "started"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho $$ > "{pipe}"\nexec sleep 600\n')
    program.chmod(0o755)
    os.mkfifo(pipe)
    ontoweir = [sys.executable, "-m", "ontoweir"]
    query, out = ["--sql", "SELECT a FROM s"], tmp_path / "answers"
    if served:
        (tmp_path / "q.sql").write_text(query[1])
        registered = [*ontoweir, "register", str(tmp_path), "--sql", str(tmp_path / "q.sql")]
        subprocess.run(registered, check=True, capture_output=True)
    asked = [] if served else query
    command = [*ontoweir, "run", str(tmp_path), *asked, "--output", str(out)]
    command += [] if served else ["--checkpoint", str(tmp_path / "check")]
    environ = {**os.environ, "SPARK_HOME": str(tmp_path)}
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        java = int(pipe.read_text())
        assert _ignores(java, signal.SIGTERM)
        assert _ignores(java, signal.SIGINT)
        run.send_signal(sent)
        _, err = run.communicate()
    assert (run.returncode, err) == (code, said)
    assert not Path(f"/proc/{java}").exists()
    assert not [file for place in (out, tmp_path / "check") for file in place.rglob("*")]


def test_java_ends_first_by_itself_or_not() -> None:
    for command, longest, code in ((["cat"], 60.0, 0), (["sleep", "600"], 0.0, -signal.SIGKILL)):
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        await_end(process, longest)
        assert process.returncode == code


def test_once_a_run_has_begun_it_is_asked_to_end() -> None:
    stop = StopEvent()
    begin(stop)
    for number in (signal.SIGTERM, signal.SIGTERM):
        stop.hear(number, None)
        assert stop.is_set()
    with pytest.raises(KeyboardInterrupt):
        stop.hear(signal.SIGINT, None)  # the second one does not wait
    stop = StopEvent()
    with pytest.raises(Terminated):
        stop.hear(signal.SIGTERM, None)
    stop.hear(signal.SIGTERM, None)  # it ends already
    begin(None)


def _ignores(process: int, number: int) -> bool:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    [ignored] = [line.split()[1] for line in lines if line.startswith("SigIgn:")]
    return bool(int(ignored, 16) >> (number - 1) & 1)
