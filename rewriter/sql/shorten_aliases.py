"""Short aliases for a SELECT: `t1` for the second of many `traffic`, and none where nothing is
joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ontoweir.rewriter.model.spj import Occurrence

if TYPE_CHECKING:
    from sqlglot import exp

_SHORT = 3


def shorten_aliases(occurrences: Iterable[Occurrence]) -> dict[str, str]:
    """The alias that each occurrence has in printed SQL, by its own: the first letter of a long
    one, numbered where several begin with it; none ("") for the only one."""
    aliases = [o.alias for o in occurrences]
    if len(aliases) == 1:
        return {aliases[0]: ""}
    kept = {a.lower() for a in aliases if len(a) <= _SHORT}
    initials = Counter(_initial(a) for a in aliases if len(a) > _SHORT)
    used: Counter[str] = Counter()
    short: dict[str, str] = {}
    for alias in aliases:
        if len(alias) <= _SHORT:
            short[alias] = alias
            continue
        name = initial = _initial(alias)
        while name in kept or (name == initial and initials[initial] > 1):
            used[initial] += 1
            name = f"{initial}{used[initial]}"
        short[alias] = name
        kept.add(name)
    return short


def rename_tables(tree: exp.Expr, short: Mapping[str, str]) -> None:
    """The columns of a tree under other aliases, in place."""
    from sqlglot import exp

    for column in tree.find_all(exp.Column):
        name = short.get(column.table)
        if name is not None:
            column.set("table", exp.to_identifier(name) if name else None)


def _initial(alias: str) -> str:
    return next((c for c in alias.lower() if c.isascii() and c.isalpha()), "t")
