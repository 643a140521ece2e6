"""What a sink is: where the answers of a run go, and how that is asked for by name."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import Source, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


class AnswerSink(ABC):
    """Where the answers of a run go."""

    irrevocable: ClassVar[bool] = False
    """Whether what has been published can be neither taken back nor found again: then a run does
    not go on from a checkpoint that is older than what it has published."""

    @abstractmethod
    def describe(self, query: str) -> str:
        """Where a query's answers go, for people."""

    def redact(self, text: str) -> str:
        """A message without what the sink keeps secret."""
        return text


class MessageSink(AnswerSink):
    """A sink that takes answers one micro-batch after the other, and is not a folder of files."""

    keys: "dict[str, tuple[str, ...]] | None" = None
    """Of a sink that replaces rows: by query, the columns that tell rows apart, as `bind_sink` says
    before anything is published. None: it adds rows to those before."""

    def accept(self, query: str, names: Sequence[str]) -> None:
        """See that a query's answers can be published, before anything runs; keys are known.

        Args:
            query: its name.
            names: of the answers' columns.

        Raises:
            UsageError: they cannot.
        """

    def begin(self, query: str) -> None:
        """See that a query without a commit begins with nothing.

        Raises:
            UsageError: there is something of another run, which would stay.
        """

    @abstractmethod
    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Publish a query's answers in a micro-batch; again, after a crash, under its number.

        Raises:
            RunError: the sink does not take them; they are committed, and published at the next
                start.
        """


def take_upsert(sink: str, options: dict[str, str]) -> "dict[str, tuple[str, ...]] | None":
    """Take the option `upsert` out of others: keys, as `MessageSink` has them, to be filled.

    Raises:
        UsageError: it is neither true nor false.
    """
    upsert = options.pop("upsert", "false")
    if upsert not in ("true", "false"):
        raise UsageError(
            f"the option upsert of the sink {sink} is {upsert!r}",
            why="it says whether rows replace those before of the same group",
            fix="write upsert=true, or leave it out",
            source=Source("--sink-option"),
        )
    return {} if upsert == "true" else None


def refuse_option(sink: str, option: str, known: str) -> UsageError:
    """The error of an option that a sink does not have."""
    return UsageError(
        f"the sink {sink} has no option {option}",
        why=f"it has {known}",
        fix="leave it out, or correct its name",
        source=Source("--sink-option"),
    )


def require_package(sink: str, module: str, package: str) -> None:
    """See that the package is there that a sink needs; its extra is called as the sink is.

    Raises:
        UsageError: it is not.
    """
    if find_spec(module) is None:
        raise UsageError(
            f"the sink {sink} needs {package}, which is not installed",
            why="it is optional for ontoweir",
            fix=f"pip install 'ontoweir[{sink}]', or pip install {package}",
            source=Source("--sink"),
        )


def tell_gone(what: str, *, holds: bool) -> None:
    """Say on stderr that a table of this run is no longer there, before it is made anew.

    Args:
        what: the table, for people.
        holds: it has rows that replace others, not all answers.
    """
    lost = "the rows that held" if holds else "the answers that were in it"
    print(
        f"warning: {what} is gone, and is made anew: {lost} are lost, as each micro-batch is "
        "published once; to have them, stop the run, and begin with another --checkpoint",
        file=sys.stderr,
        flush=True,
    )


@dataclass(frozen=True, slots=True)
class SinkKind:
    """A kind of sink, which has a name.

    `help`: where answers go, in a word or two; `options`: those it takes, with an example of them
    (None: none); `required`: those that must be given; `make`: the sink, of the output folder and
    the options.
    """

    name: str
    help: str
    make: Callable[[Path, Mapping[str, str]], AnswerSink]
    options: str | None = None
    required: tuple[str, ...] = ()
