"""Ontop's artefacts, and what it answers.

`python -m tests.ontop.run_ontop` fetches the jars from Maven Central, by mvn, into
~/.cache/ontoweir/ontop. Tests use what is there and never fetch.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ontoweir" / "ontop"
VERSION = "5.1.2"
MISSING = "NOT TESTED: no Ontop in ~/.cache/ontoweir; fetch it: python -m tests.ontop.run_ontop"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ontoweir</groupId><artifactId>ontop</artifactId><version>1</version>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.eclipse.rdf4j</groupId><artifactId>rdf4j-bom</artifactId><version>4.2.4</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>{}</dependencies>
</project>
"""
_ARTEFACTS = (
    ("it.unibz.inf.ontop", "ontop-system-sql-owlapi", VERSION),
    ("it.unibz.inf.ontop", "ontop-rdf4j", VERSION),
    ("com.h2database", "h2", "2.2.224"),
    ("org.slf4j", "slf4j-nop", "1.7.36"),
)


_FAULT = "IllegalArgumentException: Multiple entries with same key: triple"
"""Ontop 5.1.2 does not load a mapping in which an inverse property makes two assertions that differ
in their sides only."""


@dataclass(frozen=True, slots=True)
class OntopAnswer:
    """What Ontop made of a query: SQL, the seconds of CPU to rewrite it, and the answers, whose
    cells are texts; or an error."""

    sql: str = ""
    seconds: float = 0.0
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    error: str = ""


def list_jars() -> list[str]:
    """The cached jars (none: not fetched, or there is no Java)."""
    if shutil.which("java") is None or not (CACHE / "complete").exists():
        return []
    return sorted(map(str, (CACHE / "jars").glob("*.jar")))


def ask_ontop(folders: Sequence[Path], *, runs: int = 1) -> list[dict[str, OntopAnswer]]:
    """The answers to the queries of folders (AskOntop.java says what a folder has), by name; none
    of a folder on which Ontop fails by a fault of its own.

    Raises:
        RuntimeError: Ontop does not take a folder's ontology, mapping or tables.
    """
    driver = Path(__file__).parent / "AskOntop.java"
    command = ["java", "-Xss16m", "-cp", os.pathsep.join(list_jars()), str(driver), str(runs)]
    subprocess.run([*command, *map(str, folders)], check=True, stdout=subprocess.DEVNULL)
    return [_read(folder) for folder in folders]


def _read(folder: Path) -> dict[str, OntopAnswer]:
    out = folder / "out"
    if (out / "error").exists():
        error = (out / "error").read_text(encoding="utf-8")
        if _FAULT in error:
            return {}
        raise RuntimeError(f"{folder}: {error}")
    found = {}
    for query in sorted((folder / "queries").glob("*.rq")):
        texts = {
            kind: (out / f"{query.stem}.{kind}").read_text(encoding="utf-8")
            for kind in ("sql", "seconds", "tsv", "error")
            if (out / f"{query.stem}.{kind}").exists()
        }
        head, *lines = texts.get("tsv", "\n").removesuffix("\n").split("\n")
        found[query.stem] = OntopAnswer(
            texts.get("sql", ""),
            float(texts.get("seconds", 0)),
            tuple(head.split("\t")),
            tuple(tuple(line.split("\t")) for line in lines),
            texts.get("error", ""),
        )
    return found


def fetch() -> None:
    """Fetch what is not cached; CalledProcessError where Maven Central cannot be reached."""
    if (CACHE / "complete").exists():
        return
    jars = CACHE / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    dependencies = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version>"
        "</dependency>"
        for g, a, v in _ARTEFACTS
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pom.xml").write_text(_POM.format(dependencies))
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        without = "-DexcludeArtifactIds=logback-classic,logback-core"
        subprocess.run(["mvn", "-q", "-B", *goal, without], cwd=folder, check=True)
    (CACHE / "complete").touch()


if __name__ == "__main__":
    fetch()
