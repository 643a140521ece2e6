"""Publishes micro-batches into a sink, and kills itself: `killed_publisher.py FOLDER KIND COUNT`.

COUNT: the call of Python's, of those within publishing, that is the last (0: none is). What is done
is noted in FOLDER/done; a micro-batch that is not noted is published again by the next process.
"""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow as pa

from ontoweir.runtime.live.output.sinks.sinks import make_sink

BATCHES = 6


def options(folder: Path, kind: str) -> dict[str, str]:
    """Those of a sink that is in a folder."""
    if kind != "iceberg":
        return {"upsert": "true"} if kind == "delta-upsert" else {}
    return {
        "table": "db.{query}",
        "catalog.type": "sql",
        "catalog.uri": f"sqlite:///{folder}/catalog.db",
        "catalog.warehouse": f"file://{folder}/warehouse",
    }


def rows(batch: int) -> pa.Table:
    """What a micro-batch has."""
    return pa.table({"k": [batch % 2, 5], "n": [batch, batch]})


def main() -> None:
    """Publish what is left, unless killed."""
    folder, kind, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    sink: Any = make_sink(kind.partition("-")[0], folder / "out", options(folder, kind))
    if sink.keys is not None:
        sink.keys["q"] = ("k",)
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event != "return"
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

    done = folder / "done"
    for batch in range(int(done.read_text()) if done.exists() else 0, BATCHES):
        sys.setprofile(profile)
        sink.publish("q", batch, rows(batch), None)
        sys.setprofile(None)
        beside = folder / "done.writing"
        beside.write_text(str(batch + 1))
        beside.rename(done)
    print(count)


if __name__ == "__main__":
    main()
