"""`ontoweir receive`."""

import argparse
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.commands.common.arguments import add_project_arguments
from ontoweir.errors import UsageError

if TYPE_CHECKING:
    from ontoweir.mappings.model.catalog import Stream
    from ontoweir.runtime.receive.receive_stream import Received


def add_receive(commands: Any) -> None:
    """Add `receive` to the commands."""
    receive = commands.add_parser(
        "receive",
        help="write messages of MQTT to the folders that runs and replays read, until stopped",
        epilog="example: ontoweir receive my-project --stream temperature",
    )
    add_project_arguments(receive)
    receive.add_argument(
        "--stream",
        action="append",
        metavar="NAME",
        help="only this stream (default: all whose source has format mqtt); may be repeated",
    )
    receive.add_argument(
        "--every",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="how often what has come appears as a file (default: 1)",
    )
    receive.set_defaults(run=_receive)


def _receive(args: argparse.Namespace) -> int:
    from ontoweir.project.project import load_project

    project = load_project(Path(args.project), overrides=args.set)
    streams = choose_streams(project.catalog.streams, args.stream or ())
    if not args.every > 0:
        raise UsageError(
            f"--every {args.every:g}",
            why="it is a time in seconds",
            fix="write, for example, --every 1",
        )
    stop = threading.Event()
    before = {
        one: signal.signal(one, lambda *_: stop.set()) for one in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        found = _run(streams, args.every, stop, quiet=args.quiet)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    for stream, received in zip(streams, found, strict=True):
        more = received.messages - received.objects
        others = f", {more:,} of them no JSON objects" if more else ""
        print(f"{stream.name}: {received.messages:,} messages in {received.files:,} files{others}")
    return 0


def choose_streams(streams: "Mapping[str, Stream]", names: Sequence[str]) -> "list[Stream]":
    """The streams to receive, by their names, or all: of those that read the same messages, as
    where an array makes two streams of them, the first.

    Raises:
        UsageError: a name is of no stream of MQTT; or there is none.
    """
    there = {name: stream for name, stream in streams.items() if stream.data.mqtt}
    for name in names:
        if name not in there:
            raise UsageError(
                f"{name!r} is no stream of MQTT",
                why="its source has another format" if name in streams else "there is none",
                fix=f"name one of {', '.join(there)}" if there else 'declare format = "mqtt"',
            )
    if not there:
        raise UsageError(
            "no stream of this project comes from MQTT",
            why='none has a source with format = "mqtt"',
            fix='declare source = { format = "mqtt", path = "arrivals", options = '
            '{ host = "…", topic = "sensors/{device}/temp" } }',
        )
    chosen = [there[name] for name in names] if names else list(there.values())
    return list({(s.data.path, s.data.mqtt): s for s in reversed(chosen)}.values())[::-1]


def _run(
    streams: "Sequence[Stream]", every: float, stop: threading.Event, *, quiet: bool
) -> "list[Received]":
    """What was received of each, once `stop` is set; an error of one ends all."""
    from ontoweir.runtime.receive.receive_stream import ReceiveOptions, receive_stream

    def report(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    options = ReceiveOptions(every, report=report)
    with ThreadPoolExecutor(len(streams)) as pool:
        running: list[Future[Received]] = [
            pool.submit(receive_stream, stream, options, stop) for stream in streams
        ]
        try:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
        finally:
            stop.set()
        for one in done:
            one.result()
        return [one.result() for one in running]
