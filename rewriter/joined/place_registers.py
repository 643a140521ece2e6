"""Static relations beside rows that come and go: each is joined within one of these."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import column_names, find_name

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass
class Register:
    """A static relation: what FROM has there, its columns, in lower case, with how they are
    written; `said`: what it is joined by; `left`: in a LEFT JOIN."""

    alias: str
    item: "exp.Table"
    names: dict[str, str]
    said: "list[exp.Expr]" = field(default_factory=list)
    left: bool = False

    def column(self, name: str) -> str:
        """What a column is called among those of the rows that it is joined with."""
        return f"{self.alias}.{name}"


def read_register(item: "exp.Expr", catalog: Catalog) -> Register | None:
    """The static relation that an item of FROM is (None: something else)."""
    from sqlglot import exp

    name = find_name(item.name, catalog.relations) if isinstance(item, exp.Table) else None
    if not isinstance(item, exp.Table) or name is None:
        return None
    names = {c.lower(): c for c in column_names(catalog.relations[name])}
    return Register(item.alias_or_name, item, names)


def find_register(
    column: "exp.Column", registers: Sequence[Register], others: Sequence[Sequence[str]]
) -> Register | None:
    """The static relation of a column (None: it is of something else, or not known).

    Args:
        column: as it is written.
        registers: the static relations.
        others: the names, in lower case, of columns of the other items of FROM.
    """
    of, name = column.table.lower(), column.name.lower()
    found = [r for r in registers if of in ("", r.alias.lower()) and name in r.names]
    elsewhere = not of and any(name in names for names in others)
    return found[0] if len(found) == 1 and not elsewhere else None


def join_registers(select: "exp.Select", registers: Sequence[Register]) -> "exp.Select":
    """A SELECT of rows with the static relations that these are joined with, in place."""
    from sqlglot import exp

    for one in registers:
        on = exp.and_(*(c.copy() for c in one.said))
        select.append(
            "joins", exp.Join(this=one.item.copy(), on=on, side="LEFT" if one.left else None)
        )
    return select
