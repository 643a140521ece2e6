"""Hold the mappings that a user has to the tables of data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ontoweir.errors import MappingError, Source, UsageError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.read_table import did_you_mean

_SHOWN = 12
"""So many tables are named in a message."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Mappings over tables: what the triples maps that fit make, and why the others do not, each
    with its place."""

    assertions: tuple[MappingAssertion, ...]
    refused: tuple[MappingError, ...]


def fit_mappings(files: Sequence[Path], catalog: Catalog) -> Fitted:
    """What triples maps make of the tables of a catalog.

    Args:
        files: R2RML in Turtle, or Ontop's `.obda`.
        catalog: the tables.

    Raises:
        UsageError: a file is not there.
        MappingError: it is no mapping; or no triples map fits.
    """
    for file in files:
        if not file.is_file():
            raise UsageError(
                f"there is no file {file}",
                why="the project reads its mapping each time, from a file",
                fix="name R2RML in Turtle, or a mapping of Ontop's (.obda)",
                source=Source("--mapping"),
            )
    found = load_mappings(files, catalog, partial=True)
    for one in found.refused:
        if one.id in map(str, files):  # which is no mapping at all
            raise one.error
    explained = (_explain(one.error, catalog) for one in found.refused)
    refused = tuple({str(error): error for error in explained}.values())
    if not found.assertions and refused:
        first = refused[0]
        raise MappingError(
            f"no triples map fits the data: {first.what}",
            why=first.why,
            fix=first.fix,
            source=first.source,
        )
    return Fitted(found.assertions, refused)


def _explain(error: MappingError, catalog: Catalog) -> MappingError:
    """The error; of a table that there is not, in words of the data."""
    before, found, name = error.what.partition("unknown table ")
    if not found:
        return error
    tables = [*catalog.streams, *catalog.relations]
    listed = ", ".join(tables[:_SHOWN])
    more = f" and {len(tables) - _SHOWN} more" if len(tables) > _SHOWN else ""
    wanted = name.strip("'")
    last = wanted.rpartition(".")[2].strip('"`')
    close = did_you_mean(last, tables)
    same = next((table for table in tables if table.lower() == last.lower()), None)
    if same is not None:
        fix = f"write {same!r}: tables have no schema here"
    elif close.startswith("did you mean"):
        fix = f"{close} Write that; or call the file of its data {last}, as in {last}.csv"
    else:
        fix = f"name its data after --from, too, or call its file {last}, as in {last}.csv"
    return MappingError(
        f"{before}there is no table {name} in the data",
        why=f"tables are called after their files: {listed}{more}",
        fix=fix,
        source=error.source,
    )
