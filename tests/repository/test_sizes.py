"""Sizes: of files, functions, lists of parameters and rooms (CONTRIBUTING.md, "Sizes")."""

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("ontology", "mappings", "rewriter", "checker", "runtime", "src/ontoweir")
MAX_LINES, MAX_IN_FUNCTION, MAX_PARAMETERS, MAX_FILES = 400, 80, 7, 13

EXCEPTIONS = {
    "src/ontoweir/api/python_api.py:replay": "keyword arguments are the user's own words",
    "src/ontoweir/api/python_api.py:register": "keyword arguments are the user's own words",
    "src/ontoweir/api/opening.py:open_project": "keyword arguments are the user's own words",
    "src/ontoweir/api/opening.py:build_project": "keyword arguments are the user's own words",
}
"""What is larger, and why it may be."""


def test_sizes(root: Path) -> None:
    large = dict(_list_large(root))
    assert {what: size for what, size in large.items() if what not in EXCEPTIONS} == {}


def test_every_exception_is_one(root: Path) -> None:
    assert EXCEPTIONS.keys() <= dict(_list_large(root)).keys()


def _list_large(root: Path) -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        files = [f for f in (root / folder).rglob("*.py") if not _is_linked(f, root / folder)]
        for file in files:
            yield from _list_large_in(file, str(file.relative_to(root)))
        for room in {file.parent for file in files}:
            count = sum(f.parent == room and f.name != "__init__.py" for f in files)
            if count > MAX_FILES:
                yield str(room.relative_to(root)), f"{count} files"


def _list_large_in(file: Path, name: str) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8")
    if (lines := len(text.splitlines())) > MAX_LINES:
        yield name, f"{lines} lines"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MAX_IN_FUNCTION:
            yield f"{name}:{node.name}", f"{lines} lines"
        if (count := _count_parameters(node.args)) > MAX_PARAMETERS:
            yield f"{name}:{node.name}", f"{count} parameters"


def _count_parameters(given: ast.arguments) -> int:
    """All that a caller can give: not `self`, nor `cls`."""
    named = [a.arg for a in (*given.posonlyargs, *given.args)]
    own = named[:1] in (["self"], ["cls"])
    more = (given.vararg is not None) + (given.kwarg is not None)
    return len(named) - own + len(given.kwonlyargs) + more


def _is_linked(file: Path, folder: Path) -> bool:
    """Whether a link leads to the file, which is seen in its own folder."""
    return any(p.is_symlink() for p in file.parents if p.is_relative_to(folder) and p != folder)
