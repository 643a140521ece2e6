"""`ontoweir doctor`: what is installed, which Java, what is missing, and how to install it."""

import importlib.metadata
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from ontoweir.runtime.spark.find_java import LEAST_JAVA, find_java

_PACKAGES = ("pyoxigraph", "rdflib", "sqlglot", "networkx", "rich", "tomlkit")
_LATER = {
    "numpy": "what reads data needs",
    "pyarrow": "what reads data needs",
    "owlready2": "ontologies that it holds in memory, in Python, need",
    "pyspark": "live runs, long replays and other formats need",
}
"""Packages without which queries are checked all the same (docs/install.md)."""
_EXTRAS = {
    "flask": "only the dashboard needs",
    "waitress": "only the dashboard needs",
    "altair": "only charts of Altair's in notebooks need",
    "confluent-kafka": "registered queries on Kafka need, not to go through Spark",
    "fastavro": "answers in Avro and topics with a schema registry need, and sources of Avro",
    "deltalake": "the sink delta needs, and sources of Delta where Spark does not read them",
    "pyiceberg": "the sink iceberg and sources of Iceberg need",
    "openpyxl": "only `init --from` of workbooks needs",
    "paho-mqtt": "`receive`, of MQTT, and the sink mqtt need",
    "psycopg": "`init --from postgresql://…`, relations of PostgreSQL and the sink postgres need",
}
"""Packages of extras."""
_MODULES = {"confluent-kafka": "confluent_kafka", "paho-mqtt": "paho"}
"""What is imported of packages that are called otherwise."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement of ontoweir: its state, and how to install it if it is missing.

    "optional": missing, but needed by few commands.
    """

    state: Literal["ok", "missing", "too old", "optional"]
    what: str
    mend: str | None = None


def examine() -> list[Requirement]:
    """The requirements of ontoweir, and their state on this machine."""
    parts = [Requirement("ok", f"Python {sys.version.split()[0]} ({sys.executable})")]
    for name in _PACKAGES:
        try:
            parts.append(Requirement("ok", f"{name} {importlib.metadata.version(name)}"))
        except importlib.metadata.PackageNotFoundError:
            parts.append(Requirement("missing", name, f"{sys.executable} -m pip install {name}"))
    for name, what in _LATER.items():
        try:
            parts.append(Requirement("ok", f"{name} {importlib.metadata.version(name)}"))
        except importlib.metadata.PackageNotFoundError:
            mend = f"{sys.executable} -m pip install {name}"
            parts.append(Requirement("optional", f"{name}, which {what}, is not installed", mend))
    for name, why in _EXTRAS.items():
        if find_spec(_MODULES.get(name, name)) is not None:
            parts.append(Requirement("ok", f"{name} {importlib.metadata.version(name)}"))
        else:
            what = f"{name}, which {why}, is not installed"
            parts.append(Requirement("optional", what, f"{sys.executable} -m pip install {name}"))
    java = find_java()
    if java is None and find_spec("pyspark") is None:
        return parts
    if java is None:
        mend = f"apt-get install -y openjdk-{LEAST_JAVA}-jre-headless (or set JAVA_HOME)"
        parts.append(Requirement("missing", "Java, which Spark needs", mend))
        return parts
    path, version = java
    if version is not None and version < LEAST_JAVA:
        what = f"Java {version} ({path}); Spark needs {LEAST_JAVA} or newer"
        mend = f"apt-get install -y openjdk-{LEAST_JAVA}-jre-headless"
        parts.append(Requirement("too old", what, mend))
    else:
        parts.append(Requirement("ok", f"Java {version or '?'} ({path})"))
    return parts
