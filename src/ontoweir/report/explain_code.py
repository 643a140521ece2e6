"""The page of a diagnostic's code: its meaning, an example that fires, and a repair."""

import re
from functools import cache
from importlib.resources import files

from ontoweir.errors import UsageError

_HEADING = re.compile(r"^### (OW\d+): (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n.*?^```$", re.MULTILINE | re.DOTALL)


def explain_code(code: str) -> str:
    """The page of a code, in Markdown; case is ignored.

    Raises:
        UsageError: there is no such code.
    """
    page = _pages().get(code.strip().upper())
    if page is None:
        raise UsageError(
            f"unknown code {code!r}",
            why="no diagnostic has it",
            fix=f"write one of: {', '.join(_pages())}",
        )
    return page


def code_titles() -> dict[str, str]:
    """Every code and its heading, in the order of the pages."""
    return dict(_HEADING.findall(read_pages()))


@cache
def read_pages() -> str:
    """All pages as they stand in docs/errors.md, from the heading "Diagnostics" on."""
    return (files("ontoweir") / "diagnostic_pages.md").read_text(encoding="utf-8")


@cache
def _pages() -> dict[str, str]:
    """The pages by code; the shared tables and triples are appended to each that has examples."""
    text = read_pages()
    starts = [(m[1], m.start()) for m in _HEADING.finditer(text)]
    shared = {m[1]: m[0] for m in _BLOCK.finditer(text[: starts[0][1]])}
    pages = {}
    for (code, start), end in zip(starts, [*(s for _, s in starts[1:]), len(text)], strict=True):
        page = text[start:end].strip()
        languages = {m[1] for m in _BLOCK.finditer(page)}
        if languages:
            page += f"\n\nThe tables of the example:\n\n{shared['toml']}"
        if "sparql" in languages:
            page += f"\n\nThe triples of the example:\n\n{shared['turtle']}"
        pages[code] = page
    return pages
