"""Errors that end a live run."""

from ontoweir.errors import DataError, RunError, Source
from ontoweir.runtime.sources.history import History


class Stopped(RunError):
    """A micro-batch is not taken in, or not to its end, because the run is to stop."""


def bad_file(history: History, file: str, error: DataError) -> DataError:
    """The error of a file that ends a run."""
    return DataError(
        f"the file {file} of {history.stream.name} cannot be taken in: {error.what}",
        why=error.why,
        fix=f'{error.fix}; or move it away, or declare on_bad_file = "quarantine" for '
        f"{history.stream.name}, which does so, and start again",
        source=Source(file),
    )


def stopped(what: str) -> RunError:
    """The error of a run that does not go on."""
    return RunError(
        f"Spark stopped the run: {what}",
        why="what was committed is intact",
        fix="see Spark's log for the cause, and start again",
    )
