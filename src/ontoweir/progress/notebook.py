"""Notebooks: whether this is one, and something to show in it that changes."""

import sys
from html import escape
from importlib import import_module
from typing import Any


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML."""
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    return kernel is not None and hasattr(kernel, "kernel")


class NotebookCell:
    """A piece of HTML below the cell that runs, which can change; made when it is first shown."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, html: str) -> None:
        """Show HTML in place of what was shown before."""
        shower: Any = import_module("IPython.display")
        if self._handle is None:
            self._handle = shower.display(shower.HTML(html), display_id=True)
        else:
            self._handle.update(shower.HTML(html))


def html_bar(title: str, done: int, total: int | None, figures: str) -> str:
    """A progress bar; without a total it says that something is done."""
    limits = "" if not total else f' value="{min(done, total)}" max="{total}"'
    share = "" if not total else f" {100 * min(done, total) // total} %"
    return (
        f'<div style="font-family: monospace">{escape(title)} <progress{limits}></progress>'
        f"{share} {escape(figures)}</div>"
    )


def html_table(names: list[str], rows: list[list[object]]) -> str:
    """A table of texts."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(c))}</td>" for c in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def fold_text(html: str, title: str, text: str) -> str:
    """Some HTML, and below it a text that is shown when its title is clicked."""
    inner = f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'
    return f"<div>{html}<details><summary>{escape(title)}</summary>{inner}</details></div>"


class NotebookText(str):
    """Text that a notebook, or IPython, shows as it is, not as a Python string."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{escape(self)}</pre>'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
