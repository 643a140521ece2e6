"""Windows that a WINDOW clause names."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp


def name_windows(select: "exp.Select") -> None:
    """Write what WINDOW names in the place of each name, in place."""
    from sqlglot import exp

    named = {w.this.name.lower(): w for w in select.args.get("windows") or ()}
    if not named:
        return
    for window in list_own(select, exp.Window):
        base = named.get(window.alias.lower()) if window.args.get("alias") else None
        if base is None or base is window:
            continue
        for key in ("partition_by", "order", "spec"):
            held = base.args.get(key)
            if held is not None and not window.args.get(key):
                copied = [e.copy() for e in held] if isinstance(held, list) else held.copy()
                window.set(key, copied)
        window.set("alias", None)
    select.set("windows", None)
