"""`ontoweir register`, `list`, `status`, `drop`: no Spark, nothing half written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ontoweir.commands.operate import run as operate_run
from ontoweir.errors import RunError
from ontoweir.files.hold_lock import hold_lock, is_held
from ontoweir.registry.entry_status import begin_status, read_status, write_status
from ontoweir.registry.list_entries import find_entry
from ontoweir.registry.registry_entry import summarise_bound
from tests.ontoweir.commands.test_errors import is_one_line, snapshot
from tests.ontoweir.conftest import Run

FAST = "every-reading-above-130"
JOIN = "SELECT a.avg_speed FROM traffic a JOIN traffic b USING (report_id) "
WINDOW = JOIN + "WHERE b.ts > a.ts AND b.ts <= a.ts + INTERVAL '1' HOUR"


def test_register_list_status_drop(run: Run, project: Path) -> None:
    ran = run("register", project, "--query", FAST)
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"{FAST}: bounded, stateless, ≤ 0 rows")
    listed = json.loads(run("list", project, "--format", "json").out)
    assert [(x["name"], x["state"], x["tier"], x["bound_rows"]) for x in listed] == [
        (FAST, "waiting", "stateless", 0)
    ]
    assert FAST in run("list", project).out
    status = json.loads(run("status", "--project", project, "--format", "json").out)
    assert {"rejects", "lag_seconds", "error", "state_rows", "results"} <= status[0].keys()
    assert f"{FAST}: waiting" in run("status", FAST, "--project", project).out
    assert run("drop", FAST, "--project", project).code == 0
    assert json.loads(run("list", project, "--format", "json").out) == []
    assert "no query is registered" in run("list", project).out
    again = run("drop", FAST, "--project", project)
    assert again.code == 2
    assert is_one_line(again.err)


def test_hints_are_calls_that_work(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From another folder than the project's, and from its own."""
    monkeypatch.chdir(tmp_path)
    elsewhere = run("register", project, "--query", FAST).out
    assert f"`ontoweir run {project}` serves it" in elsewhere
    assert f"`ontoweir status --project {project}` shows its state" in elsewhere
    assert run("status", "--project", project).out.startswith(f"{FAST}: waiting")
    named = run("register", project, "--query", FAST, "--replace", "--registry", "r").out
    assert f"`ontoweir run {project} --registry r`" in named
    assert "`ontoweir status --registry r`" in named
    monkeypatch.chdir(project)
    assert (
        "`ontoweir run` serves it; `ontoweir status` shows"
        in run("register", "--query", FAST, "--replace").out
    )


def test_a_project_in_the_place_of_a_name(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("drop", project.name)
    assert ran.code == 2
    assert ran.err.rstrip().endswith(f"--project {project.name}")
    for command in ("status", "drop"):
        other = run(command, "nothing")
        assert "or name the project it is in: --project FOLDER" in other.err
    assert "--project names another" in run("status").out


def test_register_list_and_status_agree(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are called alike, and say the same of a query, once."""
    monkeypatch.chdir(tmp_path)
    told = run("register", project, "--query", FAST).out.splitlines()[0]
    assert told.startswith(f"{FAST}: ")
    verdict = told.removeprefix(f"{FAST}: ")
    for ways in (["status", project.name], ["status", "--project", project.name, FAST]):
        assert f"  {verdict}" in run(*ways).out.splitlines()
    bound = verdict.rpartition(", ")[2].removesuffix(" of state")
    for ways in (["list", project.name], ["list", "--project", project.name]):
        assert run(*ways).out.rstrip().endswith(bound)
    assert isinstance(json.loads(run("status", project.name, "--format", "json").out), list)


def test_a_verdict_that_is_its_tier_is_told_once(run: Run, project: Path) -> None:
    name = "sensors-fast-after-congestion"
    told = run("register", project, "--query", name).out
    assert told.startswith(f"{name}: conditionally-bounded, ≤ ")
    assert run("status", "--project", project).out.count("conditionally-bounded") == 1
    assert summarise_bound("bounded", None) == "finitely many rows"
    assert summarise_bound("undecided", None) == "∞ rows"


def test_the_text_is_that_of_the_registration(run: Run, project: Path) -> None:
    file = project / "window.sql"
    file.write_text(WINDOW)
    entry = json.loads(run("register", project, "--sql", file, "--format", "json").out)
    file.write_text("nothing")
    held = find_entry(project / "out" / "registry", "window")
    assert (held.text, held.language, held.id) == (WINDOW, "sql", entry["id"])
    assert entry["registration"] == "new"


HOURLY = (
    "SELECT report_id, date_trunc('hour', ts) AS hour, AVG(avg_speed) AS mean FROM traffic "
    "GROUP BY report_id, date_trunc('hour', ts)"
)
SLOWER = (
    "SELECT b.report_id, b.hour FROM hourly a, hourly b WHERE a.report_id = b.report_id "
    "AND b.hour = a.hour + INTERVAL '1' HOUR AND b.mean < a.mean - 10"
)


def test_a_registered_query_is_a_stream_for_others(run: Run, project: Path) -> None:
    """As it was registered: what becomes of it later is its own."""
    for name, text in (
        ("hourly", HOURLY),
        ("slower", SLOWER),
        ("days", "SELECT date_trunc('day', hour) AS day, COUNT(*) AS n FROM slower GROUP BY 1"),
    ):
        (project / f"{name}.sql").write_text(text)
        ran = run("register", project, "--sql", project / f"{name}.sql")
        assert ran.code == 0, ran.err
        assert "window-bounded" in ran.out
    registry = project / "out" / "registry"
    assert find_entry(registry, "slower").reads == {"hourly": HOURLY}
    assert find_entry(registry, "days").reads == {"hourly": HOURLY, "slower": SLOWER}
    (project / "hourly.sql").write_text(HOURLY.replace("AVG", "MAX"))
    assert run("register", project, "--sql", project / "hourly.sql", "--replace").code == 0
    assert find_entry(registry, "slower").reads == {"hourly": HOURLY}
    both = project / "both.sql"
    both.write_text("SELECT h.mean FROM hourly h JOIN slower s USING (report_id, hour)")
    twice = run("register", project, "--sql", both)
    assert twice.code == 2
    assert "both would read two queries called hourly" in twice.err
    assert is_one_line(twice.err)
    assert run("drop", "hourly", "--project", project).code == 0
    assert run("register", project, "--sql", both).code == 0  # by way of slower


def test_running_groups_are_no_stream_for_others(run: Run, project: Path) -> None:
    for name, text in (
        ("running", "SELECT report_id, COUNT(*) AS n FROM traffic GROUP BY report_id"),
        ("reader", "SELECT n FROM running"),
    ):
        (project / f"{name}.sql").write_text(text)
        ran = run("register", project, "--sql", project / f"{name}.sql")
    assert ran.code == 2
    assert "an aggregate in a subquery whose groups are not final" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--query", "how-often-congestion-got-worse"), "is unbounded"),
        (("--query", "nothing-of-the-kind"), "unknown query"),
        (("--sql", "broken.sql"), "broken.sql:"),
        (("--sql", "missing.sql"), "cannot read the query"),
        (("--query", FAST, "--name", "../up"), "cannot be called"),
        (("--query", FAST, "--name", "rejects"), "cannot be called"),
        (("--sql", "never.sql"), "selects nothing"),
    ],
)
def test_what_is_refused_writes_nothing(
    run: Run, project: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "broken.sql").write_text("SELECT FROM WHERE")
    (project / "never.sql").write_text(WINDOW + " AND a.avg_speed > 5 AND a.avg_speed < 3")
    monkeypatch.chdir(project)
    before = snapshot(project)
    ran = run("register", project, *arguments)
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert said in ran.err
    assert snapshot(project) == before


def test_unbounded_with_leave(run: Run, project: Path) -> None:
    ran = run(
        *("register", project, "--query", "how-often-congestion-got-worse"),
        *("--allow-unbounded", "--format", "json"),
    )
    assert ran.code == 0, ran.err
    entry = json.loads(ran.out)
    assert (entry["allow_unbounded"], entry["verdict"], entry["bound_rows"]) == (
        True,
        "unbounded",
        None,
    )


def test_a_name_is_taken_once(run: Run, project: Path) -> None:
    """Replaced, it is another entry; dropped, the same query goes on, and another does not."""
    registry = project / "reg"
    command = ("register", project, "--query", FAST, "--registry", registry, "--format", "json")
    first = json.loads(run(*command).out)
    ran = run(*command)
    assert ran.code == 2
    assert "--replace" in ran.err
    second = json.loads(run(*command, "--replace").out)
    assert (second["registration"], second["id"] != first["id"]) == ("replaced", True)
    assert run("drop", FAST, "--project", project, "--registry", registry).code == 0
    third = json.loads(run(*command).out)
    assert (third["registration"], third["id"]) == ("resumed", second["id"])
    assert run("drop", FAST, "--project", project, "--registry", registry).code == 0
    (project / "window.sql").write_text(WINDOW)
    other = ("register", project, "--sql", project / "window.sql", "--name", FAST)
    ran = run(*other, "--registry", registry)
    assert ran.code == 2
    assert "was dropped" in ran.err
    assert run("drop", FAST, "--project", project, "--registry", registry, "--purge").code == 0
    assert not (registry / FAST).exists()
    assert run(*other, "--registry", registry).code == 0


def test_the_registry_of_the_environment(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONTOWEIR_REGISTRY", str(project / "elsewhere"))
    assert run("register", project, "--query", FAST).code == 0
    assert (project / "elsewhere" / FAST / "entry.json").exists()
    assert not (project / "out").exists()


def test_a_server_that_died_is_found_out(run: Run, project: Path) -> None:
    """By its lock: a status that says running is not believed without it."""
    registry = project / "out" / "registry"
    run("register", project, "--query", FAST)
    entry = find_entry(registry, FAST)
    folder = registry / FAST
    lock = hold_lock(folder)
    assert lock is not None
    status = begin_status(entry, "somewhere", None)
    write_status(folder, {**status, "state": "running"})
    assert read_status(registry, entry)["state"] == "running"
    assert hold_lock(folder, 0.0) is None
    lock.release()
    died = read_status(registry, entry)
    assert died["state"] == "died"
    assert "is gone" in died["error"]
    assert run("status", "--project", project).out.startswith(f"{FAST}: died")
    assert [run("status", "--check", "--project", project).code, run("status", project).code] == [
        3,
        0,
    ]
    write_status(folder, {**status, "state": "stopped", "tuples": 7})
    assert read_status(registry, entry)["state"] == "stopped"
    assert begin_status(entry, "somewhere", None, folder)["tuples"] == 7  # it goes on from there
    assert begin_status(entry, "somewhere", None, folder)["state"] == "waiting"
    # a status of what was registered before is not this entry's
    run("register", project, "--query", FAST, "--replace")
    assert read_status(registry, find_entry(registry, FAST))["state"] == "waiting"


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ontoweir.files.hold_lock import hold_lock; "
        "held = hold_lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert is_held(tmp_path)
        assert hold_lock(tmp_path, 0.0) is None
        other.kill()
        other.wait()
    assert not is_held(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="lock cannot be written"):
        hold_lock(tmp_path / "file")


def test_a_damaged_entry_is_named(run: Run, project: Path) -> None:
    run("register", project, "--query", FAST)
    file = project / "out" / "registry" / FAST / "entry.json"
    for text, said in (
        ("{", "is damaged"),
        ('{"version": 99}', "has version 99"),
        ("[]", "is dam"),
    ):
        file.write_text(text)
        ran = run("list", project)
        assert ran.code == 2
        assert is_one_line(ran.err)
        assert said in ran.err
    assert run("register", project, "--query", FAST, "--replace").code == 0
    assert run("list", project).code == 0


@pytest.mark.parametrize("command", ["list", "status", "drop"])
def test_commands_on_the_registry_start_no_java(command: str, project: Path) -> None:
    code = (
        "import sys; from ontoweir.cli import main; main(sys.argv[1:]); "
        "assert 'pyspark' not in sys.modules and 'rdflib' not in sys.modules"
    )
    more = {"list": [str(project)], "status": ["--project", str(project)]}
    arguments = more.get(command, ["x", "--project", str(project)])
    ran = subprocess.run(
        [sys.executable, "-c", code, command, *arguments], check=False, capture_output=True
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("more", "called", "said"),
    [
        (("--registry", "r"), "_serve", "nothing is registered in r yet"),
        (("--serve",), "_serve", "registry yet: what is, is run then"),
        (("--registry", "r", "-q"), "_serve", ""),
        ((), "_run_queries", ""),
        (("--ui", "0"), "_run_queries", ""),
        # what is registered in the browser would wait for ever, without a word
        (("--ui", "0", "--allow-changes"), "_run_queries", "run --serve, in place of this"),
    ],
)
def test_a_registry_that_is_empty(
    run: Run,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
    called: str,
    said: str,
) -> None:
    """Where it is named, it is served: what is registered later runs."""
    found: list[str] = []

    def note(name: str) -> int:
        found.append(name)
        return 0

    monkeypatch.setattr(operate_run, "_serve", lambda *_: note("_serve"))
    monkeypatch.setattr(operate_run, "_run_queries", lambda _: note("_run_queries"))
    ran = run("run", project, *more)
    assert (ran.code, found) == (0, [called])
    assert said in ran.err
    assert said or "registered" not in ran.err
