"""`ontoweir ui` and `run --ui` as processes: they say where they listen, answer, and end."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread, get_ident
from threading import enumerate as threads
from typing import Any
from urllib.request import Request, urlopen

import pytest
from waitress.task import ThreadedTaskDispatcher

from ontoweir.dashboard.serve import serve_dashboard
from ontoweir.dashboard.site import Site
from tests.ontoweir.conftest import Run
from tests.waiting import HANG_TIMEOUT, wait_until

Started = tuple["subprocess.Popen[str]", str]
QUERY = "every-reading-above-130"


@contextmanager
def start(*arguments: object) -> Iterator[Started]:
    """A process of the command line, and the address that it says."""
    command = [sys.executable, "-m", "ontoweir.cli", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        try:
            assert started.stderr is not None
            line = started.stderr.readline()
            found = re.fullmatch(r"dashboard: (http://127\.0\.0\.1:\d+/)\n", line)
            assert found is not None, line + started.stderr.read()
            yield started, found[1]
        finally:
            started.kill()


def ask(url: str, **headers: str) -> Any:
    """What a page answers, as JSON."""
    with urlopen(Request(url, headers=headers)) as answer:
        return json.loads(answer.read())


def test_ui_answers_until_it_is_stopped(example: Path) -> None:
    with start("ui", example, "--listen", 0) as (process, url):
        names = {q["query"] for q in ask(f"{url}api/overview")["queries"]}
        assert QUERY in names
        with pytest.raises(OSError, match="421"):
            ask(f"{url}api/overview", Host="evil.example")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out, err) == (0, "", "")


def test_an_answer_under_way_is_finished_before_the_server_closes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, example: Path
) -> None:
    asked, ending = Event(), Event()

    def answer(environment: object, respond: Any) -> list[bytes]:
        asked.set()
        assert ending.wait()
        respond("200 OK", [("Content-Type", "application/json")])
        return [b"1"]

    dispatchers: list[ThreadedTaskDispatcher] = []

    class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
        def set_thread_count(self, count: int) -> None:
            dispatchers.append(self)
            super().set_thread_count(count)

        def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
            ending.set()
            return bool(super().shutdown(cancel_pending, timeout))

    monkeypatch.setattr("ontoweir.dashboard.make_app.make_app", lambda *given: answer)
    monkeypatch.setattr("waitress.server.ThreadedTaskDispatcher", Dispatcher)
    with ThreadPoolExecutor() as pool:
        with serve_dashboard(Site(example, example, example, example), 0) as (url, _):
            answered = pool.submit(ask, url)
            assert asked.wait()
        ending.set()
        assert answered.result() == 1
    dispatchers[0].shutdown(timeout=HANG_TIMEOUT)  # waits for its threads
    assert caplog.messages == []
    assert not {"ontoweir dashboard", "ontoweir checks"} & {thread.name for thread in threads()}


def test_a_signal_that_another_thread_takes_ends_the_waiting(example: Path) -> None:
    """The system may give it to any thread; Python raises the interrupt in the one that waits."""
    taking = Thread(target=lambda: signal.pthread_kill(get_ident(), signal.SIGINT))
    with serve_dashboard(Site(example, example, example, example), 0) as (_, wait):

        def wait_interrupted() -> None:
            taking.start()
            wait()

        with pytest.raises(KeyboardInterrupt):
            wait_interrupted()
        assert "ontoweir dashboard" in [thread.name for thread in threads()]
    assert "ontoweir dashboard" not in [thread.name for thread in threads()]


def test_a_port_that_is_taken(run: Run, example: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run("ui", example, "--listen", port)
    assert ran.code == 2
    assert f"cannot listen on 127.0.0.1:{port}" in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", [("ui",), ("run", "--ui", "0")])
def test_without_the_extra(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "flask", None)
    ran = run(*command, example)
    assert ran.code == 2
    assert "pip install 'ontoweir[ui]'" in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [("--listen", "x"), ("--listen", "70000"), ("--time-limit", "0"), ("--time-limit", "nan")],
)
def test_wrong_options(run: Run, example: Path, arguments: tuple[str, ...]) -> None:
    ran = run("ui", example, *arguments)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1


def test_other_commands_do_without_the_framework() -> None:
    script = (
        "import sys, ontoweir.cli; ontoweir.cli.main(['explain', 'OW203']); "
        "print('flask' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_is_shown_while_it_goes_on(project: Path) -> None:
    command = [sys.executable, str(project / "generate.py"), "--output", str(project / "data")]
    subprocess.run([*command, "--days", "1", "--sensors", "20"], check=True, capture_output=True)
    with start("run", project, "--query", QUERY, "--ui", 0) as (process, url):
        told: list[Any] = []

        def has_batch() -> bool:
            told.append(ask(f"{url}api/query?name={QUERY}"))
            return told[-1]["batch"] is not None

        wait_until(has_batch, lambda: process.poll() is None)
        assert {found["status"] for found in told} <= {"not running", "running"}
        found = told[-1]
        assert found["status"] == "running"
        assert found["tuples"] > 0
        assert ask(f"{url}api/query?name={QUERY}&charts=1")["charts"]["state"].startswith("<svg")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        assert process.returncode == 0
        assert "results in" in out
    shutil.rmtree(project / "out")
