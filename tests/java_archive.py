"""An archive of the classes that Spark loads: each Java process of a test begins with half the CPU.

`python -m tests.java_archive` writes it into the environment, once for each Java and Spark
(`./ontoweir test` does so); tests/conftest.py lets Java read it. Java looks at it by itself, and
goes without one where its class path begins with other jars than those of `start_session`.
"""

import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.waiting import HANG_TIMEOUT

OPTIONS = "-XX:TieredStopAtLevel=1"
"""Java processes of tests live for seconds: what its second compiler takes is not won back."""


def find_archive() -> Path | None:
    """Where the archive of this Java and this Spark is, or would be; None without a Java."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return None
    place = Path(java).resolve()
    made_of = f"{place} {place.stat().st_mtime_ns} {version('pyspark')}"
    return Path(sys.prefix) / f"spark-classes-{crc32(made_of.encode()):08x}.jsa"


def java_options() -> str:
    """What Java processes of tests are started with."""
    archive = find_archive()
    if archive is None or not archive.exists() or " " in str(archive):
        return OPTIONS
    return f"{OPTIONS} -Xshare:auto -XX:SharedArchiveFile={archive} -Xlog:disable"


def end_java(gateway: Any) -> None:
    """End the Java process of a Spark that has stopped, and wait for it."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(HANG_TIMEOUT)


def write_archive(archive: Path) -> None:
    """Run a query and a stream on Spark, and keep the classes that this took."""
    from ontoweir.runtime.spark.start_session import start_session

    made = archive.with_suffix(f".{os.getpid()}")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{OPTIONS} -XX:ArchiveClassesAtExit={made} -Xlog:disable"
    with tempfile.TemporaryDirectory() as folder:
        session = start_session({"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
        session.range(9).selectExpr("id", "id % 3 k").write.parquet(f"{folder}/rows")
        rows = session.read.parquet(f"{folder}/rows")
        rows.groupBy("k").count().toArrow()
        stream = session.readStream.schema(rows.schema).parquet(f"{folder}/rows").writeStream
        stream = stream.option("checkpointLocation", f"{folder}/state").trigger(availableNow=True)
        stream.foreachBatch(lambda batch, _: batch.collect()).start().awaitTermination()
        gateway = session.sparkContext._gateway
        session.stop()
        end_java(gateway)  # the archive is written when it ends
    made.rename(archive)


if __name__ == "__main__":
    place = find_archive()
    if place is not None and not place.exists():
        write_archive(place)
