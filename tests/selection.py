"""What files of tests need, read from their text: which are run where, and which are fast."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.paths import ROOT

if TYPE_CHECKING:
    import pytest

OUTSIDE = frozenset({"duckdb", "multiprocessing", "playwright", "pyspark", "subprocess"})
"""Modules that start other programs or a database."""
RANDOM = frozenset({"hypothesis", "random"})
"""Modules that try many cases."""
WHOLE = frozenset({"ontoweir", "ontoweir.cli"})
"""Modules that lead to the whole pipeline: the Python API and the command line."""

ALONE = (ROOT / "tests" / "oracle", ROOT / "tests" / "sparql_counts")
"""Whose tests have files of their own, and nothing else in common."""
_SHARED = re.compile(r"scope=\"(module|session)\"|@(lru_)?cache\b")
_TRIES = re.compile(r"^(from|import) (hypothesis|random)\b", re.MULTILINE)
_OF_TESTS = re.compile(r"^from (tests\.[\w.]+) import", re.MULTILINE)


def is_fast(file: Path) -> bool:
    """Whether a file has unit tests: what it imports, itself or by other files of tests, is no
    other program, no search through random cases, no oracle and not the whole pipeline."""
    names = _imported(file)
    return not (
        names & WHOLE
        or {name.partition(".")[0] for name in names} & (OUTSIDE | RANDOM)
        or any(name.startswith("tests.oracle") for name in names)
    )


def uses_session(file: Path, name: str) -> bool:
    """Whether a test of a file asks for the Spark session, itself or by fixtures of the file."""
    return name.partition("[")[0] in _session_users(file)


@cache
def stays_together(file: Path) -> bool:
    """Whether one process has all tests of a file: what they share is made once then."""
    shares = _SHARED.search(file.read_text(encoding="utf-8")) is not None
    return file.parent not in ALONE or shares


def rank_test(file: Path, name: str) -> int:
    """What is run first: the Spark session's tests, then files of random and slow ones, then the
    others."""
    if uses_session(file, name):
        return 0
    return 1 if _takes_long(file) else 2


def list_left_out(items: Iterable["pytest.Item"]) -> Iterator["pytest.Item"]:
    """The cases that `--sample` leaves out: all but every n-th of a test that has `many(n)`."""
    taken = Counter[tuple[Path, str]]()
    for item in items:
        if (many := item.get_closest_marker("many")) is None:
            continue
        test = item.path, item.name.partition("[")[0]
        if taken[test] % many.args[0]:
            yield item
        taken[test] += 1


@cache
def _takes_long(file: Path) -> bool:
    return "mark.slow" in file.read_text(encoding="utf-8") or _tries_many(file)


@cache
def _tries_many(file: Path) -> bool:
    """Whether a file imports what makes random cases, itself or by files of tests that it names: of
    the text, as trees of all files would take each process ten seconds, and only the order depends
    on it."""
    text = file.read_text(encoding="utf-8")
    named = {ROOT / f"{name.replace('.', '/')}.py" for name in _OF_TESTS.findall(text)}
    return _TRIES.search(text) is not None or any(
        n.exists() and _tries_many(n) for n in named - {file}
    )


@cache
def _session_users(file: Path) -> frozenset[str]:
    users = {"spark"}
    if "spark" not in file.read_text(encoding="utf-8"):
        return frozenset(users)
    needs = {
        node.name: {argument.arg for argument in node.args.args}
        for node in ast.walk(_parse(file))
        if isinstance(node, ast.FunctionDef)
    }
    while more := {name for name, asked in needs.items() if asked & users} - users:
        users |= more
    return frozenset(users)


@cache
def _imported(file: Path) -> frozenset[str]:
    names = frozenset(_list_imports(_parse(file)))
    places = (ROOT / f"{name.replace('.', '/')}.py" for name in names if name.startswith("tests."))
    return names.union(*(_imported(place) for place in places if place.exists()))


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@cache
def _parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
