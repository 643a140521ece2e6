"""`ontoweir doctor`: what is installed, which Java, what is missing, and what mends it."""

import importlib.metadata
import sys

from ontoweir.runtime.find_java import LEAST_JAVA, find_java

_PACKAGES = ("owlready2", "rdflib", "sqlglot", "networkx", "numpy", "pyarrow", "pyspark", "rich")


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
    java = find_java()
    if java is None:
        missing += 1
        print(
            "missing  Java, which Spark needs; mend it: apt-get install -y openjdk-17-jre-headless "
            "(or set JAVA_HOME)"
        )
    else:
        path, version = java
        if version is not None and version < LEAST_JAVA:
            missing += 1
            print(
                f"too old  Java {version} ({path}); Spark needs {LEAST_JAVA} or newer; mend it: "
                f"apt-get install -y openjdk-{LEAST_JAVA}-jre-headless"
            )
        else:
            print(f"ok       Java {version or '?'} ({path})")
    return 3 if missing else 0
