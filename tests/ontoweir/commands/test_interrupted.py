"""Ctrl-C at any moment: what is written is whole, or as it was before.

The signal is raised at the first file operation inside the folder that is written to, then at the
second, and so on, until the command comes to its end.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ontoweir.commands.test_errors import snapshot
from tests.ontoweir.conftest import Run

UNBOUNDED = "how-often-congestion-got-worse"
BOUNDED = "roads-where-congestion-got-worse"
WRITES = ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate")


class _Trap:
    """Raises SIGINT at the n-th file operation that changes something in a folder."""

    folder: str | None = None
    left = 0
    sprung = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.folder is None or event not in (*WRITES, "open"):
            return
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str | Path) or not str(path).startswith(self.folder):
            return
        if event == "open" and not _changes(arguments):
            return
        self.left -= 1
        if self.left == 0:
            self.sprung = True
            signal.raise_signal(signal.SIGINT)


def _changes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


TRAP = _Trap()
sys.addaudithook(TRAP)


@pytest.fixture
def interrupt(run: Run) -> Iterator[Callable[..., None]]:
    """Run a command again and again, interrupted one operation later each time; after each, what
    `whole` says must hold, and nothing else may lie there."""

    def go(
        folder: Path, reset: Callable[[], None], whole: Callable[[], bool], *command: object
    ) -> None:
        for count in range(1, 200):
            reset()
            before = snapshot(folder)
            TRAP.left, TRAP.sprung, TRAP.folder = count, False, str(folder)
            try:
                ran = run(*command)
            finally:
                TRAP.folder = None
            if not TRAP.sprung:
                assert ran.code == 0, ran.err
                assert count > 1, "nothing was ever written"
                assert whole()
                return
            assert ran.code == 130, (count, ran.err)
            assert ran.err.splitlines()[-1] == "interrupted; nothing is half written"
            after = {k: v for k, v in snapshot(folder).items() if not _scratch(k)}
            assert after == before or whole(), count
        raise AssertionError("it never ended")

    yield go
    TRAP.folder = None


def _scratch(path: object) -> bool:
    """Whether a path is hidden scratch: left only when the tidying up itself is interrupted."""
    return any(p.startswith(".") for p in Path(str(path)).parts)


def old(file: Path) -> Callable[[], None]:
    """Puts a file there, and nothing else."""

    def reset() -> None:
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir()
        file.write_text("old")

    return reset


def test_a_page(interrupt: Callable[..., None], example: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "page.html"

    def whole() -> bool:
        return file.read_text().endswith("</html>\n")

    command = ("report", example, "--query", BOUNDED, "--output", file)
    interrupt(file.parent, old(file), whole, *command)


def test_a_picture(interrupt: Callable[..., None], example: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "picture.svg"

    def whole() -> bool:
        return file.read_text().endswith("</svg>\n")

    command = ("plot", example, "--query", BOUNDED, "--show", "graph", "--output", file)
    interrupt(file.parent, old(file), whole, *command)


def test_a_witness(interrupt: Callable[..., None], example: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "w"
    command = ("check", example, "--query", UNBOUNDED, "--witness", folder, "--witness-size", 2)

    def reset() -> None:
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir()

    def whole() -> bool:
        made = folder / UNBOUNDED
        return sorted(p.name for p in made.iterdir()) == ["replay.sh", "suffix-1", "suffix-2"]

    interrupt(folder.parent, reset, whole, *command)


def test_a_project(interrupt: Callable[..., None], tmp_path: Path) -> None:
    folder = tmp_path / "out" / "new"

    def reset() -> None:
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir()

    def whole() -> bool:
        return (folder / "ontoweir.toml").is_file() and any((folder / "queries").iterdir())

    interrupt(folder.parent, reset, whole, "init", folder)


def test_triples(interrupt: Callable[..., None], tmp_path: Path) -> None:
    database, mapping = tmp_path / "data.db", tmp_path / "m.ttl"
    with sqlite3.connect(database) as made:
        made.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
        made.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(50)])
    made.close()
    mapping.write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
        '<#M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template '
        '"http://e.example/{a}" ; rr:class <http://e.example/C> ] .\n'
    )
    file = tmp_path / "out" / "triples.nq"

    def whole() -> bool:
        return len(file.read_text().splitlines()) == 50

    command = ("--mappings", mapping, "--database", f"sqlite:{database}", "--output", file)
    interrupt(file.parent, old(file), whole, "materialize", *command)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_answers(interrupt: Callable[..., None], project: Path, tmp_path: Path, form: str) -> None:
    made = [sys.executable, str(project / "generate.py"), "--output", str(project / "data")]
    subprocess.run([*made, "--days", "1", "--sensors", "20"], check=True, capture_output=True)
    file = tmp_path / "out" / f"answers.{form}"

    def whole() -> bool:
        found = file.read_bytes()
        return found[:4] == found[-4:] == b"PAR1" if form == "parquet" else found[-2:] == b"}\n"

    command = ("replay", project, "--query", "every-reading-above-130", "--output", file, "--quiet")
    interrupt(file.parent, old(file), whole, *command)


@pytest.mark.parametrize(
    ("command", "sent", "code", "said"),
    [
        *(
            (c, signal.SIGINT, 130, "interrupted")
            for c in ("check", "replay", "plot", "materialize")
        ),
        ("replay", signal.SIGTERM, 143, "ended by SIGTERM"),
    ],
)
def test_a_real_signal(
    example: Path, tmp_path: Path, command: str, sent: signal.Signals, code: int, said: str
) -> None:
    """To the process, as a terminal or a supervisor sends it, while it waits for its input."""
    pipe = tmp_path / "slow"
    os.mkfifo(pipe)
    output = str(tmp_path / ("out.nq" if command == "materialize" else "out.svg"))
    called = {
        "check": [str(example), "--sql", str(pipe)],
        "replay": [str(example), "--sql", str(pipe), "--output", output],
        "plot": [str(example), "--sql", str(pipe), "--output", output, "--show", "graph"],
        "materialize": ["--mappings", str(pipe), "--database", "sqlite:x", "--output", output],
    }[command]
    with subprocess.Popen(
        [sys.executable, "-m", "ontoweir.cli", command, *called],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        with open(pipe, "w"):  # waits until the process reads it, which then waits for us
            started.send_signal(sent)
        # a signal just before the read is seen to when the read is over: the pipe is closed now
        out, err = started.communicate()
    assert (started.returncode, out, err) == (code, "", f"{said}; nothing is half written\n")
    assert list(tmp_path.iterdir()) == [pipe]
