"""Start Spark, embedded by default."""

import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ontoweir.errors import RunError, explain_missing

try:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
except ModuleNotFoundError as absent:
    raise explain_missing(absent) or absent from None

from ontoweir.runtime.spark.claim_scratch import claim_scratch
from ontoweir.runtime.spark.explain_java import describe_cause
from ontoweir.runtime.spark.find_java import LEAST_JAVA, find_java
from ontoweir.runtime.spark.start_java import last_words, start_java

LOCAL_FILES = Path(__file__).with_name("local_files.jar")
"""Hadoop's local files without a process for each (runtime/java/LocalFiles.java)."""
LOGGING = Path(__file__).with_name("log4j.properties")
"""Says nothing below errors, and nothing on stdout."""
_CONNECT_PORT = 15002
"""Where a server of Spark Connect listens by default."""
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""What grpc looks at."""
_GONE_SAYS = (
    "Exception while sending command",
    "Exception occurred while shutting down connection",
)
"""How py4j's records of that begin."""
_NO_SETTINGS: Mapping[str, str] = {}


def start_session(settings: Mapping[str, str] = _NO_SETTINGS) -> SparkSession:
    """The active Spark session, or a new one: `local[*]`, quiet, UTC, on the loopback interface.

    Args:
        settings: Spark properties, stronger than the defaults. The master is `spark.master` here,
            else the environment's SPARK_MASTER, else `local[*]`. Where the environment has
            SPARK_REMOTE, that is the server of Spark Connect whose session it is, as it is.

    Raises:
        RunError: Spark does not start (usually: no Java).
        UsageError: packages that are wanted (`spark.jars.packages`) cannot be had.
    """
    if remote := os.environ.get("SPARK_REMOTE"):
        return _connect(remote)
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    _need_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    master = os.environ.get("SPARK_MASTER", "local[*]")
    defaults = {
        "spark.master": master,
        "spark.app.name": "ontoweir",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
    }
    wanted = {**defaults, **settings}
    if wanted["spark.master"].startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        wanted.setdefault("spark.driver.host", "127.0.0.1")
        wanted.setdefault("spark.driver.bindAddress", "127.0.0.1")
        wanted.setdefault(
            "spark.sql.warehouse.dir", str(Path(tempfile.gettempdir()) / "ontoweir-warehouse")
        )
    wanted.setdefault("spark.driver.extraClassPath", str(LOCAL_FILES))
    scratch = claim_scratch()
    if "SPARK_LOCAL_DIRS" not in os.environ:
        wanted.setdefault("spark.local.dir", str(scratch))
    if "spark.driver.extraJavaOptions" not in wanted:
        # without memory, threads die one by one, and what is left waits for ever
        wanted["spark.driver.extraJavaOptions"] = (
            f"-Dlog4j2.configurationFile={LOGGING.as_uri()} -XX:+ExitOnOutOfMemoryError"
            f' "-Djava.io.tmpdir={scratch}"'
        )
    conf = SparkConf().setAll(list(wanted.items()))
    for logger in (None, "py4j.clientserver"):
        logging.getLogger(logger).addFilter(_GONE)  # once: it is the same
    try:
        if SparkContext._gateway is None:
            SparkContext(conf=conf, gateway=start_java(conf))
        session = SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        SparkContext._gateway = None  # it leads nowhere
        raise RunError(
            f"Spark does not start: {last_words() or describe_cause(error)}",
            why="replays run on Spark, which needs a Java runtime (17 or later)",
            fix="run `ontoweir doctor`, which names what is missing and the command that mends it",
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    return session


class _Gone(logging.Filter):
    """Leaves out py4j's tracebacks of a Java process that has ended, or whose start was
    interrupted: the error says so."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(_GONE_SAYS)


_GONE = _Gone()


def _connect(remote: str) -> SparkSession:
    try:
        _reach(remote)
        return SparkSession.builder.remote(remote).getOrCreate()
    except (PySparkException, OSError, ValueError) as error:  # ValueError: it names no port
        raise RunError(
            f"there is no session of Spark Connect: {str(error).splitlines()[0][:300]}",
            why=f"SPARK_REMOTE is {remote}",
            fix='start that server, `pip install "pyspark[connect]"`, or unset SPARK_REMOTE',
        ) from error


def _reach(remote: str) -> None:
    """Meet what listens there, if a proxy is not between: Spark's client would ask a server that
    is not there again and again, for minutes."""
    address = urlsplit(remote)
    if address.scheme == "sc" and address.hostname and not any(map(os.environ.get, _PROXIES)):
        port = address.port or _CONNECT_PORT
        socket.create_connection((address.hostname, port), timeout=30).close()


def _need_java() -> None:
    """Have Spark start a Java that is installed, although PATH does not lead to it."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    java = find_java()
    if java is None:
        raise RunError(
            "Spark does not start: there is no Java",
            why=f"Spark needs a Java runtime ({LEAST_JAVA} or later)",
            fix="run `ontoweir doctor`, which names the command that installs it",
        )
    os.environ["JAVA_HOME"] = str(java[0].parent.parent)
