"""Compare what `check` says of two versions of a project."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_INFINITE = "∞"


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A query of which something else is said, or that asks something else: the verdict with its
    bound before and after, in a few words; `why`: that its text changed; declarations that it rests
    on, or reasons, that came (+) and went (-)."""

    query: str
    before: str
    after: str
    why: tuple[str, ...]


def compare_verdicts(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> tuple[ChangedVerdict, ...]:
    """The queries whose verdict, bound or text changed, that are new, or that are gone.

    Args:
        before, after: the JSON of each query's verdict, by name, with its `text`.
    """
    changed = []
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        shown = _show(one), _show(other)
        both = one is not None and other is not None
        said = ("its text changed",) if both and _text(one) != _text(other) else ()
        if said or shown[0] != shown[1]:
            changed.append(ChangedVerdict(name, *shown, (*said, *_explain(one, other))))
    return tuple(changed)


def _text(verdict: Mapping[str, Any] | None) -> str:
    """A query as it is written, without the ends of its lines."""
    return "" if verdict is None else "\n".join(map(str.rstrip, verdict["text"].splitlines()))


def _show(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not there"
    bound = verdict.get("bound")
    if bound is None or bound["formula"] == _INFINITE:
        return str(verdict["verdict"])
    rows = bound["rows"]
    return f"{verdict['verdict']} " + (f"≤ {rows:,} rows" if rows is not None else bound["formula"])


def _explain(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[str, ...]:
    old, new = _reasons(before), _reasons(after)
    return (
        *(f"- {reason}" for reason in old if reason not in new),
        *(f"+ {reason}" for reason in new if reason not in old),
    )


def _reasons(verdict: Mapping[str, Any] | None) -> list[str]:
    """What a verdict rests on, where its bound is from, and what is against it."""
    if verdict is None:
        return []
    because = (b["message"] for d in verdict.get("disjuncts", ()) for b in d.get("because", ()))
    bound = verdict.get("bound")
    known = bound is not None and bound["formula"] != _INFINITE
    formula = [f"bound: {bound['formula']}"] if bound is not None and known else []
    rests = (f"rests on {c}" for c in verdict.get("conditions", ()))
    return list(dict.fromkeys([*rests, *formula, *because]))
