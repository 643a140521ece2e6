"""What `ontoweir run` is asked for, and how the command line says it."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.parse_duration import parse_duration

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    from ontoweir.runtime.live.output.sinks.memory import MemorySink
    from ontoweir.runtime.live.parts.divide_queries import LiveEngine

MAX_WAITING = 10_000_000
ALARM = 1_000_000


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run was asked for.

    `checkpoint`: the folder of the state of queries that run together (None: they are registered,
    and each has its own in the registry); `sink`: one of SINKS by its name, with its options (or
    a MemorySink, from Python);
    `metrics`: their folder (default: `output`); `spark`: properties of the session to start;
    `most_waiting`: rows that may wait for a marker; `listeners`: of Spark's progress;
    `allow_unbounded`: run queries that are not bounded too; `alarm`: warn when a query without a
    bound holds so many rows; `alarm_share`: warn when a query holds this share of its bound;
    `parts_may_go`: published files may be moved away by who reads them; `keep_us`: how long they
    are kept (None: for ever); `compact`: so many files of a folder become one (None: they stay);
    `emit`: what is written of answers (None: what fits each query);
    `engine`: where the states of queries are: in the driver, divided among Spark's executors, or as
    their bounds say; `parts`: into how many each is divided.
    """

    checkpoint: Path | None
    output: Path
    once: bool = False
    seconds: float = 0.0
    progress: bool = True
    sink: "str | MemorySink" = "parquet"
    sink_options: Mapping[str, str] = field(default_factory=dict)
    metrics: Path | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    most_waiting: int | None = MAX_WAITING
    listeners: tuple["StreamingQueryListener", ...] = ()
    allow_unbounded: bool = False
    alarm: int = ALARM
    alarm_share: float | None = None
    parts_may_go: bool = False
    keep_us: int | None = None
    compact: int | None = None
    emit: str | None = None
    engine: "LiveEngine" = "auto"
    parts: int | None = None

    @property
    def keep_ns(self) -> int | None:
        """How long published files are kept, in ns."""
        return None if self.keep_us is None else 1000 * self.keep_us


def add_run_options(run: argparse.ArgumentParser) -> None:
    """The options of `ontoweir run` that say where answers and metrics go, and on what Spark."""
    from ontoweir.runtime.live.output.sinks.sinks import SINKS, describe_options

    run.add_argument(
        "--sink",
        choices=[kind.name for kind in SINKS],
        default=SINKS[0].name,
        help=f"where answers go (default: {SINKS[0].help})",
    )
    run.add_argument(
        "--sink-option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{describe_options()}; env:NAME reads a variable",
    )
    run.add_argument(
        "--metrics", metavar="FOLDER", help="of metrics.jsonl and metrics.prom (default: --output)"
    )
    run.add_argument(
        "--spark",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of Spark, e.g. spark.jars.packages=…",
    )
    add_emit(run)
    run.add_argument(
        "--engine",
        choices=("auto", "driver", "spark"),
        default="auto",
        help="where the state of queries is kept: in the driver, or divided by key among Spark's "
        "executors (default: auto, by their bounds and this machine's memory)",
    )
    run.add_argument(
        "--parts",
        type=row_count,
        metavar="N",
        help="divide the state of each query that can be by key into so many parts",
    )
    _add_limits(run)


def _add_limits(run: argparse.ArgumentParser) -> None:
    """The options that say how much a run may hold, and for how long what it writes is there."""
    run.add_argument(
        "--most-waiting",
        type=int,
        default=MAX_WAITING,
        metavar="ROWS",
        help=f"stop when more wait for a marker (default: {MAX_WAITING:,})",
    )
    run.add_argument(
        "--parts-may-go",
        action="store_true",
        help="files of answers may be moved away by who reads them (default: one that is gone is "
        "an error at the next start)",
    )
    run.add_argument(
        "--keep",
        type=_duration,
        dest="keep_us",
        metavar="DURATION",
        help='remove files of answers and of rejected rows that were written longer ago, e.g. "30 '
        'days" (default: never)',
    )
    run.add_argument(
        "--compact",
        type=_file_count,
        metavar="FILES",
        help="merge so many files of answers, or of rejected rows, into one, again and again, e.g. "
        "64 (default: they stay as they are)",
    )
    run.add_argument(
        "--allow-unbounded",
        action="store_true",
        help="run queries that are not bounded too; their state may grow without limit",
    )
    run.add_argument(
        "--alarm",
        type=row_count,
        default=ALARM,
        metavar="ROWS",
        help="warn when a query without a bound holds so many, and whenever they have doubled "
        f"(default: {ALARM:,})",
    )
    run.add_argument(
        "--alarm-share",
        type=_share,
        metavar="SHARE",
        help="warn when a query holds this share of its bound, e.g. 0.9 (default: never)",
    )


def add_emit(command: argparse.ArgumentParser) -> None:
    """The option that says what is written of answers."""
    command.add_argument(
        "--emit",
        choices=("answers", "intervals", "changes", "snapshots", "insertions", "deletions"),
        help="answers; of windows intervals, with `until`; changes, with + and - in `op`; or "
        "snapshots, all that hold, whenever they change; insertions or deletions, the changes of a "
        "kind (default: what fits the query)",
    )


def row_count(text: str) -> int:
    """A positive number of rows."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _duration(text: str) -> int:
    """A duration above 0, in µs."""
    found = parse_duration(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, as 30 days, or P30D, is")
    return found


def _file_count(text: str) -> int:
    """A number of files that can become one."""
    files = int(text)
    if files < 2:
        raise ValueError
    return files


def _share(text: str) -> float:
    """A number above 0, at most 1."""
    share = float(text)
    if not 0 < share <= 1:
        raise ValueError
    return share


def read_run_options(given: argparse.Namespace, root: Path) -> RunOptions:
    """The options of a command line, in a project's folder.

    Raises:
        UsageError: an option is not a KEY=VALUE.
    """
    return RunOptions(
        checkpoint=Path(given.checkpoint) if given.checkpoint else root / "out" / "checkpoint",
        output=Path(given.output) if given.output else root / "out" / "answers",
        once=given.once,
        seconds=given.every,
        progress=not given.quiet,
        sink=given.sink,
        sink_options=read_pairs("--sink-option", given.sink_option),
        metrics=Path(given.metrics) if given.metrics else None,
        spark=read_pairs("--spark", given.spark),
        most_waiting=given.most_waiting,
        allow_unbounded=given.allow_unbounded,
        alarm=given.alarm,
        alarm_share=given.alarm_share,
        parts_may_go=given.parts_may_go,
        keep_us=given.keep_us,
        compact=given.compact,
        emit=given.emit,
        engine=given.engine,
        parts=given.parts,
    )


def read_pairs(option: str, texts: list[str]) -> dict[str, str]:
    """What an option that is given as NAME=VALUE, any number of times, says.

    Raises:
        UsageError: a text has no name or no value.
    """
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                f"{option} {name!r} has no value",
                why="an option is KEY=VALUE",
                fix=f"write e.g. {option} topic=answers"
                if option == "--sink-option"
                else f"write e.g. {option} spark.driver.memory=4g",
                source=Source(option),
            )
        pairs[name.strip()] = value.strip()
    return pairs
