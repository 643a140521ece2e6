"""A query's file in the place of the project: `ontoweir check speeding.sql`."""

from collections.abc import Sequence
from pathlib import Path

from ontoweir.commands.common.arguments import PROJECT_FILE

_OF_QUERIES = ("check", "replay", "rewrite", "plot", "measure")
_SQL, _SPARQL = (".sql",), (".rq", ".sparql")


def name_query_file(given: Sequence[str]) -> list[str]:
    """The arguments, in which a file of SQL that stands by itself is that of `--sql`, and one of
    SPARQL names a query of its project; the project is the nearest above the file, if none is
    named.

    Args:
        given: the command and its arguments.
    """
    made = list(given)
    if not given or given[0] not in _OF_QUERIES:
        return made
    alone = [n for n in range(1, len(given)) if _stands_alone(given, n)]
    files = [n for n in alone if Path(given[n]).suffix.lower() in (*_SQL, *_SPARQL)]
    if len(files) != 1 or not Path(given[files[0]]).is_file():
        return made
    (place,) = files
    file = Path(given[place])
    if file.suffix.lower() in _SQL:
        made[place : place + 1] = ["--sql", str(file)]
    else:
        made[place : place + 1] = ["--for" if given[0] == "measure" else "--query", file.stem]
    if len(alone) == 1 and not any(one.split("=")[0] == "--project" for one in given):
        above = (p for p in file.resolve().parents if (p / PROJECT_FILE).is_file())
        made += ["--project", str(nearest)] if (nearest := next(above, None)) else []
    return made


def _stands_alone(given: Sequence[str], place: int) -> bool:
    """Whether it is neither an option nor, as far as can be told, what one is given."""
    before = given[place - 1]
    valued = place > 1 and before.startswith("-") and "=" not in before and before not in _FLAGS
    return not given[place].startswith("-") and not valued


_FLAGS = ("--strict", "--quiet", "-q", "--verbose", "-v", "--watch", "--static-data", "--")
