"""Start Spark's Java process; what it says while it starts is kept, or left out where all is well.

Nothing that Java says is an answer: its stdout goes to stderr, too.
"""

import atexit
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.spark.find_java import LEAST_JAVA

if TYPE_CHECKING:
    from pyspark import SparkConf

_GREETING = b"WARNING: Using incubator modules: "
_PACKAGES = "spark.jars.packages"
_LONGEST_END = 10.0
"""Seconds that Java has to end by itself."""
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
"""Variables of the environment that say the locale, the strongest first."""
_FATAL = re.compile(r"OutOfMemoryError|fatal error|insufficient memory", re.IGNORECASE)
_THROWN = re.compile(
    r'^Exception in thread "main" (?:[\w.$]+: )?(?:requirement failed: )?(.*)$', re.MULTILINE
)
_LACKING = re.compile(r"(?:unresolved dependency: |download failed: )([^,\]]+)")


_LAST: "list[_JavaOutput]" = []


def start_java(conf: "SparkConf") -> Any:
    """The gateway to a new Java process.

    No option of Java turns off its note on the incubator modules that Spark asks for; where
    packages are wanted, Ivy reports at length how it found them. Both are left out, but for the
    downloads, which are shown at once.

    Raises:
        UsageError: packages that are wanted cannot be had.
        RunError: Java does not start.
    """
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    packages = conf.get(_PACKAGES)
    output = _JavaOutput()
    try:
        try:
            parts = _Deaf(stdout=output.writer, stderr=output.writer)
            with _names_of_files():
                gateway = launch_gateway(conf, parts)  # type: ignore[no-untyped-call]
        finally:
            os.close(output.writer)
    except PySparkException as error:
        raise _not_started(output.end(), packages) from error
    except BaseException as error:
        _end_started(error)
        raise
    output.pass_on(held=not packages)
    _LAST.append(output)
    if gateway.proc is not None:
        atexit.register(await_end, gateway.proc, _LONGEST_END)
    return gateway


@contextlib.contextmanager
def _names_of_files() -> Iterator[None]:
    """Java, too, takes the names of files for UTF-8 meanwhile: in the locale C Python does by
    itself, and Java reads ASCII alone."""
    set_for = next((name for name in _LOCALE if os.environ.get(name)), None)
    plain = set_for is None or os.environ[set_for] in ("C", "POSIX")
    if not plain or sys.getfilesystemencoding() != "utf-8" or sys.platform == "win32":
        yield
        return
    before = os.environ.get(_LOCALE[0])
    os.environ[_LOCALE[0]] = "C.UTF-8"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_LOCALE[0]]
        else:
            os.environ[_LOCALE[0]] = before


def last_words() -> str:
    """What the Java process said last that says why it has ended (empty: nothing does)."""
    words = [word for output in _LAST[-1:] for word in output.end_words()]
    return next((word for word in reversed(words) if _FATAL.search(word)), "")


def _end_started(error: BaseException) -> None:
    """End the Java process whose start was interrupted: PySpark removes the folder in which that
    would say where it listens, and it would stay for ever. Nothing but the frames knows it."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("proc", "self"):  # `self` while it waits for the program to begin
            process = frame.f_locals.get(name)
            if isinstance(process, subprocess.Popen) and getattr(process, "pid", None):
                process.kill()
                process.wait()


class _Deaf(dict[str, Any]):
    """What PySpark starts Java with: Java leaves SIGTERM alone, as it does Ctrl-C. Where the whole
    group of processes is asked to end, it is there until what it works for is over."""

    def __setitem__(self, name: str, value: Any) -> None:
        def begin() -> None:
            value()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

        super().__setitem__(name, begin if name == "preexec_fn" else value)


def await_end(process: "subprocess.Popen[bytes]", longest: float) -> None:
    """Let Java end before this process does, for so many seconds at most: whoever starts anew does
    not find it there."""
    from pyspark import SparkContext

    counts = getattr(SparkContext._active_spark_context, "_accumulatorServer", None)
    if counts is not None:  # it would write a traceback when the other end has gone
        counts.handle_error = lambda *_: None
    try:
        if process.stdin is not None:
            process.stdin.close()  # this is what it ends by
        process.wait(longest)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()


class _JavaOutput:
    """A pipe that Java writes to, and the thread that reads it."""

    def __init__(self) -> None:
        reader, self.writer = os.pipe()
        try:
            self.stderr = os.dup(2)
        except OSError:  # there is no stderr
            self.stderr = os.open(os.devnull, os.O_WRONLY)
        self.mutex, self.starting, self.lines = threading.Lock(), True, list[bytes]()
        self.late: deque[bytes] = deque(maxlen=20)
        self.thread = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self.thread.start()

    def _read(self, reader: int) -> None:
        with open(reader, "rb", buffering=0) as pipe, open(self.stderr, "wb", buffering=0) as out:
            while chunk := pipe.read(65_536):
                kept = [x for x in chunk.splitlines(keepends=True) if not x.startswith(_GREETING)]
                with self.mutex:
                    if self.starting:
                        self.lines += kept
                        kept = [x for x in kept if x.startswith(b"downloading ")]
                    self.late += kept
                    out.write(b"".join(kept))

    def pass_on(self, *, held: bool) -> None:
        """Java has started: what it says from now on is shown, and what it said, if wanted."""
        with self.mutex:
            if held and self.lines:
                os.write(self.stderr, b"".join(self.lines))
            self.starting, self.lines = False, []

    def end_words(self) -> list[str]:
        """The last lines, when it has gone."""
        self.thread.join(5)
        with self.mutex:
            return [line.decode(errors="replace").strip() for line in self.late]

    def end(self) -> str:
        """What Java said, when it has gone."""
        self.thread.join(5)
        return b"".join(self.lines).decode(errors="replace")


def _not_started(said: str, packages: str | None) -> RunError | UsageError:
    thrown = _THROWN.search(said)
    if packages and thrown is not None:
        lacking = [_coordinates(text) for text in _LACKING.findall(thrown.group(1))]
        return UsageError(
            f"{_PACKAGES}: "
            + (f"{', '.join(lacking)} cannot be had" if lacking else thrown.group(1)[:300]),
            why="Spark looks for packages, and for what these need, in ~/.m2, in Maven Central and "
            "in spark.jars.repositories",
            fix="correct GROUP:ARTIFACT:VERSION, name a repository that has it "
            "(spark.jars.repositories=URL), or give the jars themselves (spark.jars=FILE,…)",
        )
    said = " ".join(said.split())
    because = thrown.group(1) if thrown is not None else said or "its Java process ended at once"
    return RunError(
        f"Spark does not start: {because[:300]}",
        why=f"Spark needs a Java runtime ({LEAST_JAVA} or later), and properties that it can take",
        fix="run `ontoweir doctor`, which names what is missing and the command that mends it",
    )


def _coordinates(text: str) -> str:
    """As they are written in spark.jars.packages.

    >>> _coordinates("org.apache.kafka#kafka-clients;3.9.1!kafka-clients.jar")
    'org.apache.kafka:kafka-clients:3.9.1'
    >>> _coordinates("a.b#c_2.13;4.3.0: not found")
    'a.b:c_2.13:4.3.0'
    """
    return re.split(r"!|: ", text)[0].replace("#", ":").replace(";", ":")
