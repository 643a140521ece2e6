"""Tell scripts of SQL from a project and its queries, in what `check` is given."""

from collections.abc import Sequence
from pathlib import Path

from ontoweir.commands.common.arguments import stands_alone

_APART = ("--dialect", "--catalog")
_SPARQL = (".rq", ".sparql", ".rspql", ".csparql", ".starql")


def name_scripts(given: Sequence[str]) -> list[str]:
    """The arguments of `check`, in which files of SQL that are scripts are those of `--script`:
    several, or one with other statements than a SELECT, or beside `--dialect` or `--catalog`. A
    file of SPARQL, RSP-QL, C-SPARQL or STARQL beside a catalog is a query of it.
    """
    if not given or given[0] != "check":
        return list(given)
    alone = [n for n in range(1, len(given)) if stands_alone(given, n)]
    endings = {n: Path(given[n]).suffix.lower() for n in alone if len(given[n]) < 4096}
    apart = any(one.split("=")[0] in _APART for one in given)
    if apart and any(ending in _SPARQL for ending in endings.values()):
        return [one.replace("--catalog", "--project", 1) for one in given]
    files = [n for n, ending in endings.items() if ending == ".sql"]
    if not files or not (apart or len(files) > 1 or _is_script(Path(given[files[0]]))):
        return list(given)
    made: list[str] = []
    for place, one in enumerate(given):
        made += ["--script", one] if place in files else [one]
    return made


def _is_script(file: Path) -> bool:
    """Whether a file has more than one query, or is no text, as which it is read; one that is not
    there is none."""
    from ontoweir.scaffold.scripts.split_script import Kind, split_script

    try:
        found = list(split_script(file.read_text(encoding="utf-8-sig")))
    except OSError:
        return False
    except UnicodeDecodeError:
        return True
    return any(s.kind is not Kind.QUERY or s.name is not None for s in found) or len(found) > 1
