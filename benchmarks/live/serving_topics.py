"""Many registered queries on three topics of a Kafka broker: latency, CPU, memory, threads.

    .venv/bin/python benchmarks/live/serving_topics.py [--queries 1 10 30] [--rate 3] [--apart]

As serving.py does with files: 1,000 tuples for each timestamp in three topics of two partitions
each, `rate` timestamps a second, sent by a process of its own; queries of the same five kinds. A
timestamp is finished when the broker has the next one. The broker runs on the same machine, and is
not counted. `--apart`: each query is a streaming query by itself, as where its offsets are given.
Needs the broker of the tests: python -m tests.runtime.kafka_broker. Prints the figures as JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from live_latency import STREAMS, TUPLES
from serving import KINDS, WARM_UP, watch_server

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.register_query import QueryText, register_query
from tests.runtime.kafka_broker import list_jars, start_broker

HERE = Path(__file__).parent
STREAM = """
[streams.{0}]
source.format = "kafka"
source.options = {{ "kafka.bootstrap.servers" = "{1}", subscribe = "{0}{2}"{3} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 400
[streams.{0}.columns]
"""


def write_messages(file: Path, topics: str, first: int, last: int) -> None:
    """The messages of timestamps, half of them for each partition."""
    random = np.random.default_rng(first)
    with file.open("w") as out:
        for marker in range(first, last):
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(marker))
            for name, columns in STREAMS.items():
                for row in range(TUPLES // 3 + (name == "S")):
                    cells = {c: int(random.integers(0, 200)) for c in columns}
                    value = json.dumps({"ts": at, **cells})
                    out.write(f"{marker}\t{name}{topics}\t{row % 2}\t{value}\n")


def produce(broker: str, file: Path, rate: float) -> "subprocess.Popen[str]":
    """Send messages, so many timestamps a second."""
    path = os.pathsep.join(list_jars("broker"))
    command = ["java", "-Xmx100m", "-cp", path, str(HERE / "Produce.java"), broker, str(file)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*command, str(rate)], stdout=subprocess.PIPE, stderr=quiet, text=True)


def prepare(folder: Path, broker: str, topics: str, count: int, *, apart: bool) -> None:
    """A project with so many registered queries."""
    text = ""
    for name, columns in STREAMS.items():
        begin = f', startingOffsets = \'{{"{name}{topics}":{{"0":0,"1":0}}}}\'' if apart else ""
        text += STREAM.format(name, broker, topics, begin)
        text += "".join(f'{c} = {{ type = "int", min = 0, max = 199 }}\n' for c in columns)
    (folder / "ontoweir.toml").write_text(text)
    workspace = Workspace(load_project(folder, environ={}))
    for number in range(count):
        low = 3 * (number // len(KINDS)) % 100
        sql = KINDS[number % len(KINDS)].format(low, low + 20)
        query = QueryText(f"q{number:03d}", "sql", sql, f"q{number:03d}.sql")
        register_query(workspace, folder / "registry", query)


def measure(folder: Path, broker: str, count: int, given: argparse.Namespace) -> dict[str, Any]:
    """Serve so many queries."""
    rate, seconds = given.rate, given.seconds
    markers = int((seconds + WARM_UP) * rate) + 2
    folder.mkdir()
    topics = f"-{count}"
    prepare(folder, broker, topics, count, apart=given.apart)
    write_messages(folder / "first", topics, 0, 1)
    write_messages(folder / "more", topics, 1, markers)
    produce(broker, folder / "first", rate).wait()
    command = [sys.executable, "-m", "ontoweir", "run", str(folder), "--output", f"{folder}/out"]
    command += ["--registry", f"{folder}/registry"]
    command += ["--spark", f"spark.jars={','.join(list_jars('connector'))}"]
    found = watch_server(
        command, folder, count, given, lambda: produce(broker, folder / "more", rate)
    )
    return {**found, "apart": given.apart}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 10, 30])
    parser.add_argument("--rate", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--idle", type=float, default=10.0)
    parser.add_argument("--apart", action="store_true")
    given = parser.parse_args()
    shown = []
    with tempfile.TemporaryDirectory(prefix="ontoweir-topics-") as name, start_broker() as broker:
        for count in given.queries:
            shown.append(measure(Path(name) / str(count), broker, count, given))
            print(json.dumps(shown[-1]), file=sys.stderr)
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    print(json.dumps({"machine": machine, "served": shown}, indent=1))


if __name__ == "__main__":
    main()
