"""Ctrl-C while Java starts, or while it is called."""

import logging
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkConf

from ontoweir.cli import main
from ontoweir.runtime.spark.start_java import start_java


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
