"""A verdict in a line, and as HTML for notebooks."""

from html import escape
from typing import TYPE_CHECKING

from ontoweir.checker.partition.partition import show_partition
from ontoweir.rewriter.ties.note_ties import list_ties
from ontoweir.rewriter.windows.shows_set import shows_set

if TYPE_CHECKING:
    from ontoweir.checker.verdict.verdict import Verdict

_COLOURS = {
    "unbounded": "#b3261e",
    "undecided": "#8a5a00",
    "conditionally-bounded": "#0b6b8a",
}
_LABEL = "color: #ffffff; padding: 0 .3em; border-radius: .2em"
"""A label has both of its colours: pages may be light or dark."""
_SHOWN = 8
"""Reasons that are shown; all are in `ontoweir check`."""


def show_verdict(verdict: "Verdict") -> str:
    """The name, the tier and the bound.

    As in `Verdict('q', window-bounded, ≤ 36 rows)`.
    """
    return f"Verdict({verdict.union.name!r}, {verdict.tier}{_bound(verdict)})"


def _bound(verdict: "Verdict") -> str:
    if verdict.bound is not None:
        rows = verdict.bound.rows
        return ", finite" if rows is None else f", ≤ {rows:,} rows"
    if verdict.witness is not None:
        return f", a counterexample of {verdict.witness.size} tuples is confirmed"
    return ""


def show_verdict_html(verdict: "Verdict") -> str:
    """The verdict, its bound, what it rests on, and why it fails, without scripts or foreign
    hosts."""
    colour = _COLOURS.get(verdict.name, "#2e7d4f")
    formula = ""
    if verdict.bound is not None and verdict.bound.formula not in ("0", "1"):
        formula = f" = <code>{escape(verdict.bound.formula)}</code>"
    head = f"<b>{escape(verdict.union.name)}</b> ({'set' if shows_set(verdict.union) else 'bag'}): "
    head += f'<b style="{_LABEL}; background: {colour}">{escape(str(verdict.tier))}</b>'
    parts = [f"{head}{escape(_bound(verdict))}{formula}"]
    if verdict.conditions:
        items = "".join(f"<li>{escape(c.text)}</li>" for c in verdict.conditions)
        parts.append(f"rests on <ul>{items}</ul>")
    parts += [escape(said) for said in list_ties(verdict.union)]
    if verdict.partition is not None:
        parts.append(escape(show_partition(verdict.partition)))
    reasons: dict[tuple[str, str, str], None] = {}
    for disjunct in verdict.disjuncts:
        for d in getattr(disjunct, "because", ()):
            reasons.setdefault((d.code, d.message, d.hint))
    if reasons:
        items = "".join(
            f"<li><b>{escape(code)}</b> {escape(message)}<br><i>{escape(hint)}</i></li>"
            for code, message, hint in list(reasons)[:_SHOWN]
        )
        more = f"<li>and {len(reasons) - _SHOWN} more</li>" if len(reasons) > _SHOWN else ""
        parts.append(f"<ul>{items}{more}</ul>")
    return f"<div>{'<br>'.join(parts)}</div>"
