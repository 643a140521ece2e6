"""What files of tests need, read from their text: which are run where, and which are fast."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.paths import ROOT

OUTSIDE = frozenset({"duckdb", "multiprocessing", "playwright", "pyspark", "subprocess"})
"""Modules that start other programs or a database."""
RANDOM = frozenset({"hypothesis", "random"})
"""Modules that try many cases."""
WHOLE = frozenset({"ontoweir", "ontoweir.cli"})
"""Modules that lead to the whole pipeline: the Python API and the command line."""


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


def rank_test(file: Path, name: str) -> int:
    """What is run first: the Spark session's tests, then files of random and slow ones, then the
    others."""
    if uses_session(file, name):
        return 0
    return 1 if _takes_long(file) else 2


@cache
def _takes_long(file: Path) -> bool:
    if "hypothesis" in _imported(file):
        return True
    return any(isinstance(n, ast.Attribute) and n.attr == "slow" for n in ast.walk(_parse(file)))


@cache
def _session_users(file: Path) -> frozenset[str]:
    needs = {
        node.name: {argument.arg for argument in node.args.args}
        for node in ast.walk(_parse(file))
        if isinstance(node, ast.FunctionDef)
    }
    users = {"spark"}
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
