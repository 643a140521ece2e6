"""The verdicts on all queries of a project, as a notebook shows them."""

from collections.abc import Callable
from html import escape
from typing import Any

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import OntoweirError
from ontoweir.progress.notebook import fold_text


class Verdicts(dict[str, Verdict | OntoweirError]):
    """By the names of queries, the verdict of each, or why it is refused. In a notebook each is
    shown with its bound, and folded below it why it is so, with what would mend it."""

    def __init__(self, explain: Callable[[str], str]) -> None:
        """`explain`: the text of `ontoweir check` for a query."""
        super().__init__()
        self._explain = explain

    def _repr_html_(self) -> str:
        return "".join(map(self._show, self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("\n".join(f"{name}: {found!s}" for name, found in self.items()))

    def _show(self, name: str) -> str:
        match self[name]:
            case Verdict() as verdict if verdict.plans is None:
                return fold_text(verdict._repr_html_(), "because", self._explain(name))
            case Verdict() as verdict:
                return verdict._repr_html_()
            case error:
                return f"<div><b>{escape(name)}</b>: {escape(str(error))}</div>"
