"""Names of results that SELECT gives none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def name_items(tree: "exp.Query") -> None:
    """Functions over windows in SELECT are called as they are written, and expressions without the
    quotes around names; the SELECT is changed.

    Later passes put columns of other streams in their place, whose names say what these hold.

    Args:
        tree: a query with names as they were written.
    """
    from sqlglot import exp

    first = next(iter(tree.find_all(exp.Select, bfs=True)))
    for item in first.expressions:
        if isinstance(item, exp.Alias | exp.Column | exp.Star):
            continue
        quoted = any(name.args.get("quoted") for name in item.find_all(exp.Identifier))
        if item.find(exp.Window) is not None or (quoted and item.find(exp.AggFunc) is None):
            made = exp.Alias(this=item.copy(), alias=exp.to_identifier(write_name(item), True))
            item.replace(made)


def write_name(item: "exp.Expr") -> str:
    """What is written, with names as they are, without quotes."""
    from sqlglot import exp

    plain = item.copy()
    for name in plain.find_all(exp.Identifier):
        name.set("quoted", False)
    return plain.sql("spark")


def unique_names(listed: Sequence[str]) -> tuple[str, ...]:
    """Names, of which equal ones are numbered from the second on."""
    names: list[str] = []
    for name in listed:
        unique, n = name, 2
        while unique in names:
            unique, n = f"{name}_{n}", n + 1
        names.append(unique)
    return tuple(names)
