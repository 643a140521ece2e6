"""Errors that end a live run."""

from ontoweir.errors import DataError, RunError, Source
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.spark.start_java import last_words


class Stopped(RunError):
    """A micro-batch is not taken in, or not to its end, because the run is to stop."""


def bad_file(
    history: History, file: str, error: DataError, *, committed: bool = False
) -> DataError:
    """The error of a file that ends a run; `committed`: a commit has it among the files that are to
    be taken in, so that it is missed where it is moved away."""
    fix = "" if committed else "or move it away, "
    does = "passes it over" if committed else "does so"
    return DataError(
        f"the file {file} of {history.stream.name} cannot be taken in: {error.what}",
        why=error.why,
        fix=f'{error.fix}; {fix}or declare on_bad_file = "quarantine" for '
        f"{history.stream.name}, which {does}, and start again",
        source=Source(file),
    )


def stopped(what: str) -> RunError:
    """The error of a run that does not go on."""
    return RunError(
        f"Spark stopped the run: {what}",
        why="what was committed is intact",
        fix="see Spark's log for the cause, and start again",
    )


class JavaGone(RunError):
    """The Java process shared by all runs of a session has ended."""


def java_gone() -> JavaGone:
    """The error of a run whose Java process has ended, with what that said last."""
    said = last_words()
    memory = "OutOfMemoryError" in said
    return JavaGone(
        "Spark stopped the run: its Java process has gone" + (f" ({said[:200]})" if said else ""),
        why="what was committed is intact",
        fix="give it more memory (--spark spark.driver.memory=4g), and start again"
        if memory
        else "see Spark's log, and the system's, for the cause, and start again",
    )


def notice_gone(error: BaseException) -> JavaGone | None:
    """The error of a Java process that has ended, if that is what an exception means."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    ended = isinstance(error, Py4JNetworkError | ConnectionError | EOFError)
    return java_gone() if ended or type(error) is Py4JError else None
