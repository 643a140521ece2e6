"""The sinks that have names, and a sink by its name."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.live.output.sinks.console import CONSOLE
from ontoweir.runtime.live.output.sinks.delta import DELTA
from ontoweir.runtime.live.output.sinks.files import (
    ARROW,
    AVRO,
    CSV,
    JSONL,
    NQ,
    PARQUET,
    SRJ,
    FileSink,
)
from ontoweir.runtime.live.output.sinks.iceberg import ICEBERG
from ontoweir.runtime.live.output.sinks.kafka import KAFKA
from ontoweir.runtime.live.output.sinks.mqtt import MQTT
from ontoweir.runtime.live.output.sinks.postgres import POSTGRES
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind
from ontoweir.runtime.live.output.sinks.table import TABLE
from ontoweir.runtime.live.output.sinks.webhook import WEBHOOK

Sink: TypeAlias = FileSink | MessageSink
"""Where answers go, a closed union: files, which are found again, or messages."""

SINKS: tuple[SinkKind, ...] = (
    PARQUET,
    JSONL,
    CSV,
    ARROW,
    AVRO,
    SRJ,
    NQ,
    CONSOLE,
    KAFKA,
    WEBHOOK,
    TABLE,
    POSTGRES,
    DELTA,
    ICEBERG,
    MQTT,
)
"""What `--sink` names; the first is the default."""


def make_sink(name: str, folder: Path, options: Mapping[str, str]) -> Sink:
    """The sink of a name, with its options.

    Raises:
        UsageError: the name or an option is not known, or an option is missing.
    """
    kind = next((kind for kind in SINKS if kind.name == name), None)
    if kind is None:
        raise UsageError(
            f"unknown sink {name!r}",
            why=f"known sinks are {_list(SINKS)}",
            fix="name one of them",
            source=Source("--sink"),
        )
    if kind.options is None and options:
        taking = [kind for kind in SINKS if kind.options is not None]
        raise UsageError(
            f"the sink {name} has no option {next(iter(options))}",
            why=f"only the sink {_list(taking)} has options"
            if len(taking) == 1
            else f"only the sinks {_list(taking)} have options",
            fix=f"leave it out, or add --sink {taking[0].name}",
            source=Source("--sink-option"),
        )
    for option in kind.required:
        if not options.get(option):
            raise UsageError(
                f"the sink {name} needs the option {option}",
                why="it says where the answers go",
                fix=f"add --sink-option {option}=…",
                source=Source("--sink-option"),
            )
    sink = kind.make(folder, options)
    assert isinstance(sink, FileSink | MessageSink)
    return sink


def describe_options() -> str:
    """Which sinks take options, for `--help`."""
    return "; ".join(f"of the sink {k.name}: {k.options}" for k in SINKS if k.options is not None)


def _list(kinds: tuple[SinkKind, ...] | list[SinkKind]) -> str:
    names = [kind.name for kind in kinds]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
