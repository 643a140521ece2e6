"""What all commands share: help with examples, completion, colours, exit codes, interruption."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ontoweir.trace.write_witness
from ontoweir.cli import make_parser
from ontoweir.commands.setup.write_completion import Subparsers, write_completion
from tests.ontoweir.commands.test_errors import is_one_line, snapshot
from tests.ontoweir.conftest import Run
from tests.paths import ROOT

DOCS = ROOT / "docs" / "command-line.md"
UNBOUNDED = "how-often-congestion-got-worse"
BOUNDED = "every-reading-above-130"


def subparsers() -> Subparsers:
    (found,) = (a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return found


def commands() -> dict[str, argparse.ArgumentParser]:
    return dict(subparsers().choices)


def test_a_reader_that_stops_is_no_verdict(project: Path) -> None:
    """`ontoweir check | head -1`: exit code 1 would say that a verdict reached --fail-on."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "ontoweir", "check", project, "--query", UNBOUNDED],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_help_lists_every_command_in_its_group() -> None:
    shown = make_parser().format_help()
    titles = ["begin:", "before anything runs:", "replay history:", "run live:"]
    places = [shown.index(f"\n  {title}\n") for title in titles]
    assert places == sorted(places)
    for name in commands():
        assert len(re.findall(rf"^    {name}( |$)", shown, re.MULTILINE)) == 1, name
    assert shown.index("\n    replay ") > places[2]


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir {gone} && {sys.executable} -m ontoweir check"
    path = os.pathsep.join(p for p in sys.path if p)
    ran = subprocess.run(
        ["sh", "-c", script],
        cwd=gone,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "the current folder is not there any more" in ran.stderr
    assert is_one_line(ran.stderr)


def test_a_misspelt_command(run: Run) -> None:
    """The closest one is named, where there is one."""
    assert "did you mean 'check'? See `ontoweir --help`" in run("chek").err
    assert "did you mean 'plan'?" in run("rewrite", "--query", "q", "--show", "plann").err
    assert "did you mean" not in run("xyzzy").err


@pytest.mark.parametrize("name", commands())
def test_help_has_an_example_that_parses(name: str) -> None:
    epilog = commands()[name].epilog or ""
    examples = re.findall(rf"ontoweir ({name}\b[^`;&|)]*)", epilog)
    assert examples
    for example in examples:
        given = make_parser().parse_args(shlex.split(example))
        assert callable(given.run)


@pytest.mark.parametrize("name", commands())
def test_the_page_has_every_command(name: str) -> None:
    assert f"| `{name}" in DOCS.read_text(encoding="utf-8")


def complete(words: list[str]) -> list[str]:
    """What bash completes the last word to."""
    script = write_completion(subparsers(), "bash")
    line = " ".join(shlex.quote(w) for w in words)
    script += (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _ontoweir; "
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ontoweir", "re"], ["rewrite", "report", "replay", "register", "receive"]),
        (["ontoweir", "check", "--fo"], ["--format"]),
        (["ontoweir", "check", "--format", ""], ["text", "json", "sarif", "github", "html"]),
        (["ontoweir", "replay", "--summary", "j"], ["json"]),
        (["ontoweir", "completion", "f"], ["fish"]),
        (["ontoweir", "check", "--query", "x"], []),
    ],
)
def test_bash_completes(words: list[str], found: list[str]) -> None:
    assert complete(words) == found


def test_a_command_imports_no_other() -> None:
    script = "import sys; from ontoweir.cli import main; main(['explain', 'no-such-code']); "
    script += "print(*sys.modules, file=sys.stdout)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    named = set(done.stdout.split())
    assert "ontoweir.commands.design.explain" in named
    assert not {"ontoweir.commands.operate.run", "ontoweir.runtime", "ssl"} & named


def test_other_shells(run: Run) -> None:
    ran = run("completion", "zsh")
    assert ran.out.startswith("#compdef ontoweir\n")
    assert "bashcompinit" in ran.out
    ran = run("completion", "fish")
    assert "-n '__fish_seen_subcommand_from check' -l format -r -f -a 'text json" in ran.out
    if (fish := shutil.which("fish")) is not None:
        subprocess.run([fish, "--no-execute", "/dev/stdin"], input=ran.out, text=True, check=True)


def call(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "ontoweir.cli", *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment | variables, check=False
    )


def test_colours_can_be_had_and_refused(example: Path) -> None:
    command = ("check", example, "--query", UNBOUNDED)
    colour = re.compile(r"\x1b\[[\d;]*3\dm")
    assert "\x1b" not in call(*command).stdout  # no terminal
    assert colour.search(call(*command, FORCE_COLOR="1").stdout)
    assert not colour.search(call(*command, FORCE_COLOR="1", NO_COLOR="1").stdout)


def test_exit_codes_are_those_of_the_page(run: Run, example: Path, tmp_path: Path) -> None:
    listed = re.findall(r"^\| (\d+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in listed] == [0, 1, 2, 3, 130, 143]
    assert run("check", example, "--query", BOUNDED, "--fail-on", "unbounded").code == 0
    assert run("check", example, "--query", UNBOUNDED, "--fail-on", "unbounded").code == 1
    assert run("check", tmp_path).code == 2
    assert run("check", "--no-such-option").code == 2
    nowhere = tmp_path / "no" / "folder" / "page.html"
    assert run("report", example, "--query", BOUNDED, "--output", nowhere).code == 2
    assert run("report", example, "--query", BOUNDED, "--output", "/dev/full").code == 3


def test_interrupted_a_witness_is_not_half_written(
    run: Run, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("check", example, "--query", UNBOUNDED, "--witness", tmp_path / "w")
    assert run(*command).code == 0
    before = snapshot(tmp_path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ontoweir.trace.write_witness, "_command", interrupted)
    ran = run(*command, "--witness-size", 2)
    assert (ran.code, ran.out) == (130, "")
    assert snapshot(tmp_path) == before


def test_quiet_says_no_warnings(run: Run, project: Path) -> None:
    toml = (project / "ontoweir.toml").read_text(encoding="utf-8")
    (project / "ontoweir.toml").write_text(toml)
    mapping = project / "traffic.r2rml.ttl"
    text = mapping.read_text(encoding="utf-8")
    mapping.write_text(text.replace("rr:predicate :status ", "rr:predicate :statuss "))
    command = ("check", project, "--query", BOUNDED)
    assert run(*command).err.startswith("warning: ")
    assert run(*command, "--quiet").err == ""
    assert len(run(*command, "--verbose", "--quiet").out) > len(run(*command, "--quiet").out)


def test_the_page_has_every_variable(root: Path) -> None:
    page = DOCS.read_text(encoding="utf-8")
    folders = ("src/ontoweir", "ontology", "mappings", "rewriter", "checker", "runtime")
    files = [f for folder in folders for f in (root / folder).glob("**/*.py")]
    asked = re.compile(r"""environ(?:\.get\(|\.setdefault\(|\[)\s*["']([A-Z_]+)["']""")
    found = {name for file in files for name in asked.findall(file.read_text(encoding="utf-8"))}
    assert {"ONTOWEIR_DEBUG", "SPARK_MASTER", "ONTOWEIR_REGISTRY"} <= found
    assert {name for name in found if f"`{name}" not in page} == set()


PROJECT = (
    *("check", "rewrite", "measure", "replay", "show", "register", "run", "ui", "report", "plot"),
    *("ontology", "receive"),
)
TOLD = (
    *("check", "rewrite", "measure", "show", "diff", "ontology", "register", "list"),
    *("status", "drop", "init"),
)


@pytest.mark.parametrize("name", commands())
def test_options_are_where_they_mean_something(name: str) -> None:
    options = set(commands()[name]._option_string_actions)
    assert ({"--quiet", "-q", "--verbose", "-v", "--set", "--strict"} <= options) == (
        name in PROJECT
    )
    as_json = {"--format", "--summary"} & options
    assert bool(as_json) == (name in (*TOLD, "explain", "doctor", "replay", "run"))


def test_verbose_says_steps_on_stderr(run: Run, example: Path, tmp_path: Path) -> None:
    asked = (example, "--query", BOUNDED)
    plain, told = run("check", *asked), run("check", *asked, "--verbose")
    assert plain.err == ""
    steps = ["the ontology is read", "the mappings are read", "is rewritten", "is decided"]
    lines = told.err.splitlines()
    assert len(lines) == 4
    for line, step in zip(lines, steps, strict=True):
        assert re.fullmatch(rf" +\d+\.\d{{3}} s  .*{step}", line)
    assert run("check", *asked, "--verbose", "--quiet").err == ""
    page = tmp_path / "page.html"
    assert "is decided" in run("report", *asked, "--output", page, "-v").err
    assert "is rewritten" in run("rewrite", *asked, "--show", "spj", "-v").err


def test_json_of_what_is_told(run: Run, example: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    made = json.loads(run("init", folder, "--format", "json").out)
    assert made["project"] == str(folder)
    found = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    assert made["files"] == sorted(map(str, found))
    page = json.loads(run("explain", "ow203", "--format", "json").out)
    assert (page["code"], page["page"]) == ("OW203", run("explain", "OW203").out.rstrip("\n"))
    assert page["title"] in page["page"]
    ran = run("doctor", "--format", "json")
    parts = json.loads(ran.out)
    assert ran.code == (0 if {p["state"] for p in parts} == {"ok"} else 3)
    assert any(p["what"].startswith("rdflib ") for p in parts)
    registry = ("--registry", tmp_path / "registry")
    assert run("register", example, "--query", BOUNDED, *registry).code == 0
    dropped = run("drop", BOUNDED, *registry, "--project", example, "--format", "json")
    assert json.loads(dropped.out) == {"name": BOUNDED, "dropped": True, "purged": False}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["show", "q", "--limit", "x"], "argument --limit: 'x' is not a whole number; "),
        (["init", "d", "--listen", "1,5"], "argument --listen: '1,5' is not a number; "),
        (["run", "--parts", "0"], "argument --parts: '0' is not a whole number above 0; "),
        (["run", "--parts", "two"], "argument --parts: 'two' is not a whole number above 0; "),
    ],
)
def test_wrong_numbers_are_told_without_a_type_of_python(
    run: Run, given: list[str], said: str
) -> None:
    ran = run(*given)
    assert (ran.code, said in ran.err, "value" in ran.err) == (2, True, False), ran.err
