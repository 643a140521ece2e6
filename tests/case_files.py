"""Reads case files: Markdown in which a titled paragraph with fenced blocks is a test.

What stands above the first `##` belongs to the whole file: what its cases are about, and blocks
that they share (a catalog). Each `## title` is a case: a sentence, what is given (blocks named
`sql`, `sparql`, `toml` …) and what comes of it (blocks such as `sql after`, `verdict`, `plan`).
A title with the word "twin" names a case in which what the file is about does not happen.
`pytest --update-cases` writes what comes of a case into its file, to be read before it is kept.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_PART = re.compile(r"^## ([^\n]*)$|^```([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TWIN = re.compile(r"\btwin\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a file: its title, its blocks by name, and those of the whole file."""

    file: Path
    title: str
    blocks: dict[str, str]
    shared: dict[str, str]

    def __str__(self) -> str:
        return f"{self.file.stem}: {self.title}"

    @property
    def is_twin(self) -> bool:
        """Whether what the file is about must not happen."""
        return _TWIN.search(self.title) is not None

    def given(self, name: str) -> str:
        """The text of a block: its own, else the file's."""
        found = self.blocks.get(name, self.shared.get(name))
        assert found is not None, f"{self}: no block {name}"
        return found


Golden: TypeAlias = Callable[[Case, str, str], None]
"""Takes a case, a block's name and what came of it (empty: nothing did), and compares them."""


def read_cases(file: Path) -> Iterator[Case]:
    """The cases of a file, in order; no two have a title, nor two blocks of one a name."""
    titles: set[str] = set()
    shared: dict[str, str] = {}
    case: Case | None = None
    for found in _PART.finditer(file.read_text(encoding="utf-8")):
        title, name, body = found.groups()
        if title is not None:
            if case is not None:
                yield case
            assert title not in titles, f"{file}: two cases {title}"
            titles.add(title)
            case = Case(file, title, {}, shared)
        else:
            blocks = shared if case is None else case.blocks
            assert name not in blocks, f"{case or file}: two blocks {name}"
            blocks[name] = body
    if case is not None:
        yield case


def read_folder(folder: Path) -> list[Case]:
    """The cases of all files of a folder."""
    return [case for file in sorted(folder.glob("*.md")) for case in read_cases(file)]


def compare_block(case: Case, name: str, found: str) -> None:
    """What came of a case is what its block says; without a block, nothing did."""
    assert case.blocks.get(name, "") == _lines(found), f"{case}: not what `{name}` says"


def write_block(case: Case, name: str, found: str) -> None:
    """Write what came of a case into its file: into the block of that name, or after the last."""
    text, found = case.file.read_text(encoding="utf-8"), _lines(found)
    start = text.index(f"\n## {case.title}\n") + 1
    end = text.find("\n## ", start) + 1 or len(text)
    block = re.compile(rf"^```{re.escape(name)}\n.*?^```\n", re.MULTILINE | re.DOTALL)
    part, new = text[start:end], f"```{name}\n{found}```\n" if found else ""
    if block.search(part):
        part = block.sub(lambda _: new, part)
    elif new:
        part = part.rstrip("\n") + f"\n\n{new}" + ("\n" if end < len(text) else "")
    case.file.write_text(text[:start] + part + text[end:], encoding="utf-8")


def _lines(text: str) -> str:
    return text.rstrip("\n") + "\n" if text else ""
