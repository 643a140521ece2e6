"""An archive of the classes that Spark loads: each Java process of a test begins with half the CPU.

`python -m tests.java_archive` writes it into the environment, once for each Java and Spark
(`./ontoweir test` does so); tests/conftest.py lets Java read it. Java compares the class path and
each jar of it with those of the archive, and goes without one that is of others: so the archive is
of a session as `start_session` makes it, with our jar first.
"""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tests.paths import ROOT
from tests.waiting import HANG_TIMEOUT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = "-XX:TieredStopAtLevel=1"
"""Java processes of tests live for seconds: what its second compiler takes is not won back."""
LOCAL_FILES = ROOT / "runtime" / "spark" / "local_files.jar"
"""The jar of ours; start_session has it, too, but would import Spark into each test process."""


EXECUTORS = {"spark.executor.extraJavaOptions": OPTIONS}
"""The same for Java processes that Spark starts: their classes are not those of the archive."""


def find_java() -> Path | None:
    """The Java that Spark is started with (None: none)."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    return None if java is None else Path(java).resolve()


def find_archive() -> Path | None:
    """Where the archive of this Java, this Spark and our jar is, or would be; None without them."""
    java, spark = find_java(), find_spec("pyspark")
    if java is None or spark is None or spark.origin is None:
        return None
    parts = [java, Path(spark.origin).with_name("jars"), LOCAL_FILES]
    if not all(part.exists() for part in parts):
        return None
    made_of = " ".join(f"{part} {part.stat().st_mtime_ns}" for part in parts)
    return Path(sys.prefix) / f"spark-classes-{crc32(made_of.encode()):08x}.jsa"


def java_options() -> str:
    """What Java processes of tests are started with, without a word on an archive that is not fit
    (`-Xlog:disable`): tests compare what is said."""
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
    """Run a query and a stream on Spark, and keep the classes that this took, in place of those of
    another Java or Spark (an archive is 190 MB).

    Raises:
        FileNotFoundError: Java has written none.
    """
    from ontoweir.runtime.spark.start_session import start_session

    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder, archive.name)
        os.environ["SPARK_SUBMIT_OPTS"] = f"{OPTIONS} -XX:ArchiveClassesAtExit={made} -Xlog:disable"
        session = start_session({"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
        session.range(9).selectExpr("id", "id % 3 k").write.parquet(f"{folder}/rows")
        rows = session.read.parquet(f"{folder}/rows")
        rows.groupBy("k").count().toArrow()
        stream = session.readStream.schema(rows.schema).parquet(f"{folder}/rows").writeStream
        stream = stream.option("checkpointLocation", f"{folder}/state").trigger(availableNow=True)
        stream.foreachBatch(_take_rows).start().awaitTermination()
        gateway = session.sparkContext._gateway
        session.stop()
        end_java(gateway)  # which writes the archive, and takes half a minute
        for other in archive.parent.glob("spark-classes-*.jsa"):
            other.unlink(missing_ok=True)
        made.rename(archive)


def _take_rows(batch: "DataFrame", _: int) -> None:
    batch.collect()


def main() -> None:
    """Write the archive, unless it is there, or there is no Java."""
    archive = find_archive()
    if archive is not None and not archive.exists() and " " not in str(archive):
        write_archive(archive)


if __name__ == "__main__":
    main()
