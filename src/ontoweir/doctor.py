"""`ontoweir doctor`: what is installed, which Java, what is missing, and what mends it."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PACKAGES = ("owlready2", "rdflib", "sqlglot", "networkx", "numpy", "pyarrow", "pyspark", "rich")
_LEAST_JAVA = 17


@dataclass(frozen=True, slots=True)
class Part:
    """Something that ontoweir needs: what is there, and what mends it where it is not well."""

    state: Literal["ok", "missing", "too old"]
    what: str
    mend: str | None = None


def examine() -> list[Part]:
    """Everything that ontoweir needs, as it is here."""
    found = [Part("ok", f"Python {sys.version.split()[0]} ({sys.executable})")]
    for name in _PACKAGES:
        try:
            found.append(Part("ok", f"{name} {importlib.metadata.version(name)}"))
        except importlib.metadata.PackageNotFoundError:
            found.append(Part("missing", name, f"{sys.executable} -m pip install {name}"))
    java = _java()
    if java is None:
        mend = f"apt-get install -y openjdk-{_LEAST_JAVA}-jre-headless (or set JAVA_HOME)"
        found.append(Part("missing", "Java, which Spark needs", mend))
        return found
    path, version = java
    if version is not None and version < _LEAST_JAVA:
        what = f"Java {version} ({path}); Spark needs {_LEAST_JAVA} or newer"
        mend = f"apt-get install -y openjdk-{_LEAST_JAVA}-jre-headless"
        found.append(Part("too old", what, mend))
    else:
        found.append(Part("ok", f"Java {version or '?'} ({path})"))
    return found


def _java() -> tuple[str, int | None] | None:
    """The Java that Spark would start, and its major version."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None or not Path(found).exists():
        return None
    try:
        told = subprocess.run([found, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return found, int(match.group(1)) if match else None
