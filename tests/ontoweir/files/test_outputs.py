"""What the program writes destroys nothing that it is given: links, pipes, devices, folders."""

import errno
import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.errors import UsageError
from ontoweir.files.find_output import FileOutput, StreamOutput, find_output
from ontoweir.files.write_file import write_file
from ontoweir.files.write_folder import write_folder
from tests.ontoweir.conftest import Run

QUERY = "above"

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int" }
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project of one stream of three rows, and SQL over it."""
    import pyarrow as pa

    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(PROJECT)
    (folder / "above.sql").write_text("SELECT s.a FROM s WHERE s.a > 1\n")
    times = pa.array([0, 1_000_000, 2_000_000], pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"ts": times, "a": [1, 2, 3]}), folder / "s.parquet")
    return folder


def _read_pipe(pipe: Path) -> Callable[[], bytes]:
    """Reads a named pipe in a thread, to its end."""
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    thread.start()

    def end() -> bytes:
        thread.join()
        return found[0]

    return end


WRITERS = ["replay", "report", "plot", "rewrite", "materialize"]


@pytest.fixture
def write(
    run: Run, small: Path, project: Path, tmp_path: Path
) -> Callable[[str, object], tuple[int, str]]:
    """Calls each command that writes a file; the code, and what was said."""

    def call(writer: str, output: object) -> tuple[int, str]:
        query = "every-reading-above-130"
        arguments: list[object]
        match writer:
            case "replay":
                sql = small / "above.sql"
                arguments = ["replay", small, "--sql", sql, "--format", "csv", "-q"]
            case "report":
                arguments = ["report", project, "--query", query]
            case "plot":
                arguments = ["plot", project, "--show", "graph", "--query", query]
            case "rewrite":
                arguments = ["rewrite", project, "--show", "graph", "--query", query]
            case _:
                import sqlite3

                with sqlite3.connect(tmp_path / "d.db") as db:
                    db.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)")
                    db.execute("INSERT OR REPLACE INTO t VALUES (1)")
                (tmp_path / "m.ttl").write_text(
                    "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
                    '<#m> rr:logicalTable [ rr:tableName "t" ];\n'
                    'rr:subjectMap [ rr:template "http://x/{id}"; rr:class <http://x/T> ] .\n'
                )
                arguments = ["materialize", "--mappings", tmp_path / "m.ttl"]
                arguments += ["--database", f"sqlite:{tmp_path / 'd.db'}"]
        ran = run(*arguments, "--output", output)
        return ran.code, ran.err

    return call


Write = Callable[[str, object], tuple[int, str]]


@pytest.mark.parametrize("writer", WRITERS)
def test_links_are_followed(writer: str, write: Write, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "file"
    real.write_text("before")
    real.chmod(0o640)
    (tmp_path / "second").symlink_to("real/file")
    link = tmp_path / "link"
    link.symlink_to("second")
    assert write(writer, link)[0] == 0
    assert link.is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert real.read_text() not in ("", "before")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "real") == ["file"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_to_nothing_makes_what_it_points_to(
    writer: str, write: Write, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to("made")
    assert write(writer, link)[0] == 0
    assert link.is_symlink()
    assert (tmp_path / "made").stat().st_size > 0


@pytest.mark.parametrize("writer", WRITERS)
def test_a_named_pipe_is_written_to(writer: str, write: Write, tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    end = _read_pipe(pipe)
    assert write(writer, pipe)[0] == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert write(writer, plain)[0] == 0
    assert end() == plain.read_bytes() != b""


@pytest.mark.parametrize("writer", WRITERS)
def test_a_device_stays_one(writer: str, write: Write, tmp_path: Path) -> None:
    # a pseudo-terminal: a character device of our own, so that a failure breaks nothing
    master, slave = os.openpty()
    found: list[bytes] = []
    reading = threading.Thread(target=lambda: _drain(master, found), daemon=True)
    reading.start()
    try:
        link = tmp_path / "device"
        link.symlink_to(os.ttyname(slave))
        assert write(writer, link)[0] == 0
        assert stat.S_ISCHR(os.stat(os.ttyname(slave)).st_mode)
        assert link.is_symlink()
    finally:
        os.close(slave)  # which ends the reading
        reading.join()
        os.close(master)
    assert b"".join(found)


def _drain(master: int, found: list[bytes]) -> None:
    try:
        while more := os.read(master, 65_536):
            found.append(more)
    except OSError:
        return


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_file_is_refused(writer: str, write: Write, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").touch()
    (tmp_path / "circle").symlink_to("circle")
    where = os.getcwd()
    os.chdir(tmp_path)  # the names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("socket")
    finally:
        os.chdir(where)
    for name, why in [("folder", "folder"), ("circle", "circle"), ("socket", "socket")]:
        code, said = write(writer, tmp_path / name)
        assert code == 2
        assert why in said
        assert said.count("\n") == 1
    assert (tmp_path / "folder" / "kept").exists()
    assert stat.S_ISSOCK((tmp_path / "socket").stat().st_mode)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("output", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output(
    writer: str, output: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bytes] = []

    def call(arguments: list[str]) -> int:
        command = [sys.executable, "-m", "ontoweir", *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        shown.append(done.stdout)
        return done.returncode

    assert write(writer, tmp_path / "plain")[0] == 0
    monkeypatch.setattr("tests.ontoweir.conftest.main", call)  # in a process of its own
    assert write(writer, output)[0] == 0
    assert shown == [(tmp_path / "plain").read_bytes()]


def test_a_replay_to_stdout_says_the_rest_on_stderr(small: Path, run: Run) -> None:
    ran = run("replay", small, "--sql", small / "above.sql", "--output", "-", "--summary", "json")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["2", "3"]
    assert json.loads(ran.err.splitlines()[-1])["results"] == 2
    ran = run("replay", small, "--sql", small / "above.sql", "--output", "-", "--format", "jsonl")
    assert [json.loads(line)["a"] for line in ran.out.splitlines()] == [2, 3]
    assert "2 results" in ran.err
    # its twin: into a file, the summary is on stdout
    ran = run("replay", small, "--sql", small / "above.sql", "--output", small / "a.csv")
    assert "2 results" in ran.out


def test_parquet_is_refused_where_nothing_can_be_put_at_the_end(small: Path, run: Run) -> None:
    pipe = small / "pipe.parquet"
    os.mkfifo(pipe)
    for output, more in [("-", ["--format", "parquet"]), (pipe, [])]:
        ran = run("replay", small, "--sql", small / "above.sql", "--output", output, *more)
        assert ran.code == 2
        assert "--format csv" in ran.err
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_reads_may_stop_reading(small: Path) -> None:
    command = f"{sys.executable} -m ontoweir replay {small} --sql {small / 'above.sql'} --output -"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | true"], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"internal" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_no_answers_leave_a_header_on_stdout(small: Path, run: Run) -> None:
    (small / "none.sql").write_text("SELECT s.a FROM s WHERE s.a > 10\n")
    ran = run("replay", small, "--sql", small / "none.sql", "--output", "-", "-q")
    assert ran.out.splitlines() == ['"a","at","multiplicity"']


def test_a_file_that_is_read_only_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("before")
    kept.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(UsageError, match="read-only"):
        write_file(kept, "after")
    assert kept.read_text() == "before"


def test_what_paths_stand_for(tmp_path: Path) -> None:
    assert find_output(tmp_path / "new") == FileOutput(tmp_path / "new")
    assert find_output(Path("/dev/null")) == StreamOutput(Path("/dev/null"))
    (tmp_path / "out").symlink_to("/dev/stdout")
    assert find_output(tmp_path / "out") == StreamOutput(tmp_path / "out", 1)
    (tmp_path / "1").touch()
    assert isinstance(find_output(tmp_path / "1"), FileOutput)


def test_a_folder_that_is_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with write_folder(tmp_path / "link") as made:
        (made / "file").touch()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").exists()
    (tmp_path / "plain").touch()
    with pytest.raises(NotADirectoryError), write_folder(tmp_path / "plain"):
        pass
    assert (tmp_path / "plain").is_file()


def test_an_empty_folder_stays_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the current folder of a shell, which would be left in a removed one."""
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    (tmp_path / "new").mkdir()
    monkeypatch.chdir("new")
    with write_folder(Path("new").absolute().parent) as made:
        (made / "a").touch()
        (made / "inside").mkdir()
        (made / "inside" / "b").touch()
    assert {p.name for p in Path.cwd().iterdir()} == {"a", "inside"}
    assert (tmp_path.stat().st_ino, os.listdir(tmp_path)) == (before, ["new"])


def test_a_folder_that_cannot_be_filled_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    replace = os.replace

    def fail(source: Path, target: Path) -> None:
        if target.name == "b" and source.parent.name == "new":
            raise OSError(errno.ENOSPC, "no space left")
        replace(source, target)

    monkeypatch.setattr("ontoweir.files.write_folder.os.replace", fail)

    def fill() -> None:
        with write_folder(tmp_path / "new") as made:
            (made / "a").touch()
            (made / "b").touch()

    with pytest.raises(OSError, match="no space"):
        fill()
    assert os.listdir(tmp_path) == ["new"]
    assert os.listdir(tmp_path / "new") == []


def test_a_witness_takes_the_place_of_a_witness_only(project: Path, run: Run) -> None:
    query = "how-often-congestion-got-worse"
    mine = project / "w" / query
    mine.mkdir(parents=True)
    (mine / "notes.txt").write_text("mine")
    call = ("check", project, "--query", query, "--witness", project / "w")
    ran = run(*call)
    assert ran.code == 2
    assert (mine / "notes.txt").read_text() == "mine"
    (mine / "notes.txt").unlink()
    assert run(*call).code == 0
    assert run(*call).code == 0


def test_a_folder_below_what_is_none(project: Path, run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "plain").touch()
    (tmp_path / "circle").symlink_to("circle")
    call = ("check", project, "--query", "how-often-congestion-got-worse", "--witness")
    for name in ("pipe", "plain", "circle"):
        place = tmp_path / name
        for ran in (run(*call, place), run("init", place / "new")):
            assert ran.code == 2
            assert f"{place} is not a folder" in ran.err
            assert ran.err.count("\n") == 1
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "circle").is_symlink()


def test_init_through_a_link(tmp_path: Path, run: Run) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert run("init", tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "ontoweir.toml").exists()


def test_much_that_is_rejected_is_said_loudly(small: Path, run: Run) -> None:
    """Even where all else is quiet: the answers rest on a part of the data."""
    call = ("replay", small, "--sql", small / "above.sql", "--output", small / "a.csv", "-q")
    assert run(*call).err == ""
    ran = run(*call, "--set", 'streams.s.columns.a={type="int",min=2,max=9}')
    assert ran.code == 0
    assert ran.err.startswith("WARNING: 1 of 3 tuples (33 %) were rejected and are in no answer: ")


def test_what_is_read_is_not_written_over(small: Path, run: Run) -> None:
    sql = small / "above.sql"
    (small / "link.csv").symlink_to("s.parquet")
    before = {p.name: p.read_bytes() for p in small.iterdir()}
    call = ("replay", small, "--sql", sql, "--format", "csv", "--output")
    for output in ("s.parquet", "link.csv", "ontoweir.toml"):
        ran = run(*call, small / output)
        assert ran.code == 2, output
        assert "read" in ran.err
        assert ran.err.count("\n") == 1
    assert {p.name: p.read_bytes() for p in small.iterdir()} == before
    (small / "s").mkdir()
    (small / "s.parquet").rename(small / "s" / "1.parquet")
    for path, output, refused in (
        ("s", "s/2.parquet", True),
        ("s/*.parquet", "s/2.parquet", True),
        ("s", "s/2.csv", False),
        ("s", "s/_2.parquet", False),
        ("s", "2.parquet", False),
    ):
        source = f'streams.s.source={{format="parquet",path="{small / path}"}}'
        ran = run(*call, small / output, "--set", source)
        assert ran.code == (2 if refused else 0), (path, output)
        assert (small / output).exists() is not refused
        (small / output).unlink(missing_ok=True)


def test_materialize_does_not_write_over_its_mapping(
    write: Write, tmp_path: Path, project: Path, run: Run
) -> None:
    assert write("materialize", tmp_path / "plain")[0] == 0
    for name in ("m.ttl", "d.db"):
        before = (tmp_path / name).read_bytes()
        link = tmp_path / f"{name}.nq"  # of an ending that may be written
        link.symlink_to(tmp_path / name)
        code, said = write("materialize", link)
        assert code == 2
        assert "it is read" in said
        assert name == "d.db" or (tmp_path / name).read_bytes() == before
    mapping = project / "traffic.r2rml.ttl"
    assert run("report", project, "--output", mapping).code == 2
    assert (
        run(
            "plot",
            project,
            "--show",
            "graph",
            "--query",
            "every-reading-above-130",
            "--output",
            mapping,
        ).code
        == 2
    )
    assert "rr:TriplesMap" in mapping.read_text()


REPLACES = {
    "find_output.py": "follows links",
    "write_file.py": "by find_output",
    "write_results.py": "by find_output",
    "write_folder.py": "links are followed",
    "write_metrics.py": "links are followed",
    "drop_query.py": "an entry of the registry",
    "start_entry.py": "files of an entry, under names of our own",
    "save_state.py": "a commit of the checkpoint",
    "save_intake.py": "a commit of the intake",
    "replace_file.py": "files of our own: of checkpoints, the registry, parts, metrics",
    "quarantine_files.py": "a free name is chosen",
    "plan_sources.py": "a file of the checkpoint",
    "journal.py": "messages that were received, under a name of our own that no file has",
    "merge_parts.py": "what others put beside files of answers, where no file has its name",
    "unpack_files.py": "a file of a folder that is made for what is unpacked",
    "move_files.py": "an archive, where no file has its name, by who holds it",
    "hold_archive.py": "what an archive says of who holds it, a file of our own",
    "open_cache.py": "an entry of the cache, under a name of our own",
}
"""What may put a file into another's place, and why that destroys nothing of the user's."""


def test_nothing_else_replaces_files(root: Path) -> None:
    """Whoever writes where the user says goes through find_output."""
    folders = ("ontology", "mappings", "rewriter", "checker", "runtime", "src/ontoweir")
    found = {
        file.name
        for folder in folders
        for file in (root / folder).rglob("*.py")
        if re.search(
            r"os\.(replace|rename)\(|shutil\.move\(|\.(rename|replace)\((folder|output)",
            file.read_text(),
        )
    }
    assert found <= REPLACES.keys()


def test_names_that_no_file_can_have(write: Write, tmp_path: Path, run: Run) -> None:
    for writer in WRITERS:
        code, said = write(writer, tmp_path / ("a" * 300))
        assert code == 2, writer
        assert "too long" in said
        assert said.count("\n") == 1
    # a long one that a file can have is not made too long by what is written beside it
    assert write("report", tmp_path / ("b" * 250))[0] == 0
    assert write("replay", tmp_path / ("b" * 250))[0] == 0
    assert run("init", tmp_path / ("c" * 250)).code == 0
    for command in ("init", "check", "list"):
        ran = run(command, tmp_path / ("a" * 300))
        assert ran.code == 2
        assert "is too long" in ran.err
        assert ran.err.count("\n") == 1


def test_an_output_that_cannot_be_is_refused_at_once(write: Write, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "astray").symlink_to("none/file")
    for writer in WRITERS:
        for name in ("none/file", "astray", "file/file"):
            code, said = write(writer, tmp_path / name)
            assert code == 2, (writer, name)
            assert said.startswith("--output: cannot write ")
        for text in (f"{tmp_path}/new/", ""):
            code, said = write(writer, text)
            assert code == 2
            assert said.endswith("; name a file\n")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("n")) == []


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_no_internal_error(writer: str, write: Write) -> None:
    code, said = write(writer, "/dev/full")
    assert code == 3
    assert said.startswith("/dev/full: cannot write the output: No space left on device; ")
    assert said.count("\n") == 1


def test_standard_output_that_is_full_or_closed() -> None:
    called = f"{sys.executable} -m ontoweir explain OW203"
    for where, code in ((">/dev/full", 3), (">&-", 0), ("2>&-", 0)):
        done = subprocess.run(["sh", "-c", f"{called} {where}"], capture_output=True, check=False)
        assert done.returncode == code, where
        assert b"internal" not in done.stderr
        assert b"Traceback" not in done.stderr
        assert (b"No space left" in done.stderr) is (code == 3)


def test_standard_output_that_is_closed_takes_no_answers(small: Path) -> None:
    """What has its number by then would be a file that somebody else has opened."""
    program = f"{sys.executable} -m ontoweir"
    for output, stream in (("-", ">&-"), ("/dev/stderr", "2>&-"), ("/dev/fd/9", "9>&-")):
        command = f"{program} replay {small} --sql {small}/above.sql --output {output}"
        ran = subprocess.run(
            ["sh", "-c", f"{command} {stream}"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 2, output
        assert "it is closed" in ran.stderr or stream == "2>&-"
