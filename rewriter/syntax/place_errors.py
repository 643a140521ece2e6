"""Errors of SQL, with the file and line where it is written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Relation
from ontoweir.mappings.sql.read_scope import SqlRefusal, SqlUnitsDiffer
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.syntax.show_statics import show_statics


@contextmanager
def place_errors(file: str, statics: Callable[[], Sequence[Relation]]) -> Iterator[None]:
    """What is refused inside is an error of the file's.

    Args:
        file: of the query.
        statics: the relations made of static ones for it so far, which messages show as they were
            written.

    Raises:
        QueryError: what was refused, or the SQL is nested too deeply.
    """
    try:
        yield
    except SqlUnitsDiffer as units:
        raise UnitsDiffer.of(*units.units_us, units.place(file)) from None
    except SqlRefusal as error:
        what, why, fix = (show_statics(t, tuple(statics())) for t in error.texts)
        raise QueryError(what, why=why, fix=fix, source=error.place(file)) from None
    except QueryError as error:
        for part in ("what", "why", "fix"):
            setattr(error, part, show_statics(getattr(error, part), tuple(statics())))
        raise
    except RecursionError:
        raise QueryError(
            "the SQL is nested too deeply",
            why="it is read by recursion, in which every AND and OR of a chain counts",
            fix="write fewer conditions and terms, and remove superfluous parentheses",
            source=Source(file, 1),
        ) from None
