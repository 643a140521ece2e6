"""A real Kafka broker for tests, one node in KRaft mode, and Spark's connector for it.

`python -m tests.runtime.kafka_broker` fetches the jars from Maven Central, by mvn, into
~/.cache/ontoweir/kafka, and writes an archive of the classes that a broker loads, with which it
begins with two thirds of the CPU. Tests use what is there and never fetch.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from zlib import crc32

from tests.java_archive import OPTIONS, find_java
from tests.waiting import HANG_TIMEOUT, wait_until

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ontoweir" / "kafka"
MISSING = (
    "NOT TESTED: no Kafka in ~/.cache/ontoweir; fetch it: python -m tests.runtime.kafka_broker"
)
_BROKER = "4.3.1"
_CLIENTS = "3.9.1"
# Spark's own version first; where the repository lacks it, the newest pair that runs on it.
_FALLBACK = ("4.2.0", "4.1.0-preview1")
_GROUPS = {"kafka-clients": "org.apache.kafka", "commons-pool2": "org.apache.commons"}
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/logs
auto.create.topics.enable=true
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def list_jars(part: str) -> list[str]:
    """The cached jars of `broker` or `connector` (none: not fetched)."""
    folder = CACHE / part
    return sorted(map(str, folder.glob("*.jar"))) if (folder / "complete").exists() else []


def make_repository(folder: Path) -> tuple[str, dict[str, str]]:
    """The cached connector as a Maven repository: the connector's coordinates, and Spark's
    properties that have packages looked for there, and nowhere else (~/.m2, Maven Central)."""
    jars = {}
    for jar in map(Path, list_jars("connector")):
        found = re.fullmatch(r"(.+?)-(\d+\.\d+\..*)\.jar", jar.name)
        assert found is not None
        name, version = found.groups()
        group = _GROUPS.get(name, "org.apache.spark")
        jars[name] = (group, name, version)
        place = folder / "repository" / group.replace(".", "/") / name / version
        place.mkdir(parents=True)
        shutil.copy(jar, place)
    connector = jars["spark-sql-kafka-0-10_2.13"]
    for group, name, version in jars.values():
        place = folder / "repository" / group.replace(".", "/") / name / version
        needed = [j for j in jars.values() if j != connector] if name == connector[1] else []
        (place / f"{name}-{version}.pom").write_text(_pom(group, name, version, needed))
    return ":".join(connector), make_settings(folder)


def make_settings(folder: Path) -> dict[str, str]:
    """Properties that have Spark look for packages in FOLDER/repository, and nowhere else."""
    nothing = folder / "ivysettings.xml"
    nothing.write_text(
        '<ivysettings><settings defaultResolver="none"/><resolvers><filesystem name="none">'
        f'<artifact pattern="{folder}/none/[artifact].[ext]"/></filesystem></resolvers>'
        "</ivysettings>"
    )
    return {
        "spark.jars.repositories": (folder / "repository").as_uri(),
        "spark.jars.ivy": str(folder / "ivy"),
        "spark.jars.ivySettings": str(nothing),
    }


class Broker(str):
    """The address of a broker. `process`: what runs it."""

    process: "subprocess.Popen[bytes]"


@contextmanager
def start_broker(more: str = "", archive: Path | None = None) -> Iterator[Broker]:
    """A broker while the block runs. `more`: lines of its properties; `archive`: where it keeps the
    classes that it has loaded, when it ends (None: nowhere)."""
    folder = Path(tempfile.mkdtemp(prefix="ontoweir-kafka-"))
    port, controller = _free_port(), _free_port()
    properties = folder / "server.properties"
    text = _PROPERTIES.format(port=port, controller=controller, folder=folder)
    properties.write_text(text + more)
    java = [str(find_java() or "java"), "-Xmx400m", *_java_options()]
    java += ["-cp", os.pathsep.join(list_jars("broker"))]
    kept = [] if archive is None else [f"-XX:ArchiveClassesAtExit={archive}"]
    log = (folder / "out").open("wb")
    name = ["-t", "MkU3OEVBNTcwNTJENDM2Qg", "--standalone", "-c", str(properties)]
    formatting = [*java, "kafka.tools.StorageTool", "format", *name]
    subprocess.run(formatting, check=True, stdout=log, stderr=log)
    run = [java[0], *kept, *java[1:], "kafka.Kafka", str(properties)]
    broker = subprocess.Popen(run, stdout=log, stderr=log)
    try:
        wait_until(lambda: _listens(port), lambda: broker.poll() is None)
        started = Broker(f"127.0.0.1:{port}")
        started.process = broker
        yield started
    finally:
        broker.send_signal(signal.SIGKILL if archive is None else signal.SIGTERM)
        broker.wait(HANG_TIMEOUT)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _find_archive() -> Path | None:
    """Where the archive of this Java and these jars is, or would be; None without them."""
    java, jars = find_java(), list_jars("broker")
    if java is None or not jars:
        return None
    made_of = " ".join(f"{part} {Path(part).stat().st_mtime_ns}" for part in [str(java), *jars])
    return CACHE / f"broker-classes-{crc32(made_of.encode()):08x}.jsa"


def _java_options() -> list[str]:
    """As java_archive has them, of a broker."""
    archive = _find_archive()
    if archive is None or not archive.exists():
        return [OPTIONS]
    return [OPTIONS, "-Xshare:auto", f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"]


def write_archive() -> None:
    """Keep the classes that a broker loads, in place of those of another Java or broker, unless
    they are kept, or there is none."""
    archive = _find_archive()
    if archive is None or archive.exists():
        return
    made = archive.with_suffix(f".{os.getpid()}")
    with start_broker(archive=made):
        pass
    for other in CACHE.glob("broker-classes-*.jsa"):
        other.unlink(missing_ok=True)
    made.rename(archive)


def _free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    with closing(socket.socket()) as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


def fetch() -> None:
    """Fetch what is not cached; CalledProcessError where the repository cannot be reached."""
    import pyspark

    if not list_jars("broker"):
        _copy("broker", [("org.apache.kafka", "kafka_2.13", _BROKER)], whole=True)
    if not list_jars("connector"):
        for spark, tokens in ((pyspark.__version__,) * 2, _FALLBACK):
            wanted = [
                ("org.apache.spark", "spark-sql-kafka-0-10_2.13", spark),
                ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", tokens),
                ("org.apache.kafka", "kafka-clients", _CLIENTS),
                ("org.apache.commons", "commons-pool2", "2.12.1"),
            ]
            try:
                _copy("connector", wanted, whole=False)
            except subprocess.CalledProcessError:
                if spark == _FALLBACK[0]:
                    raise
            else:
                return


def _pom(
    group: str,
    name: str,
    version: str,
    needed: list[tuple[str, str, str]],
    each: str = "",
    more: str = "",
) -> str:
    """A Maven description of an artifact, and of what it depends on."""
    named = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{n}</artifactId><version>{v}</version>"
        f"{each}</dependency>"
        for g, n, v in needed
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        f"{more}<dependencies>{named}</dependencies></project>"
    )


def _copy(part: str, artifacts: list[tuple[str, str, str]], *, whole: bool) -> None:
    """Copy artifacts (`whole`: with all they depend on) to the cache."""
    folder = CACHE / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    alone = (
        ""
        if whole
        else "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        "</exclusions>"
    )
    pom = _pom("ontoweir", part, "1", artifacts, alone, "<packaging>pom</packaging>")
    (folder / "pom.xml").write_text(pom)
    goal = ["mvn", "-B", "-q", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    subprocess.run(goal, cwd=folder, check=True, timeout=600, stdout=subprocess.DEVNULL)
    (folder / "complete").touch()


if __name__ == "__main__":
    try:
        fetch()
    except (OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"Kafka cannot be fetched from Maven Central: {problem}")
    write_archive()
