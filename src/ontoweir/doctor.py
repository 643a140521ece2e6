"""`ontoweir doctor`: what is installed, which Java, what is missing, and what mends it."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

_PACKAGES = ("owlready2", "rdflib", "sqlglot", "networkx", "numpy", "pyarrow", "pyspark", "rich")
_LEAST_JAVA = 17


def examine() -> int:
    """Print a line for everything ontoweir needs; 0 if nothing is missing, else 3."""
    missing = 0
    print(f"ok       Python {sys.version.split()[0]} ({sys.executable})")
    for name in _PACKAGES:
        try:
            print(f"ok       {name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing += 1
            print(f"missing  {name}; mend it: {sys.executable} -m pip install {name}")
    java = _java()
    if java is None:
        missing += 1
        print(
            "missing  Java, which Spark needs; mend it: apt-get install -y openjdk-17-jre-headless "
            "(or set JAVA_HOME)"
        )
    else:
        path, version = java
        if version is not None and version < _LEAST_JAVA:
            missing += 1
            print(
                f"too old  Java {version} ({path}); Spark needs {_LEAST_JAVA} or newer; mend it: "
                f"apt-get install -y openjdk-{_LEAST_JAVA}-jre-headless"
            )
        else:
            print(f"ok       Java {version or '?'} ({path})")
    return 3 if missing else 0


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
