"""Joins with static relations, and conditions, around numbered rows, put where rows are read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names
from ontoweir.rewriter.joins.latest_rows import list_outer, resolve
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


class Shown(Protocol):
    """What a subquery shows in the place of its columns."""

    def is_own(self, node: "exp.Column", others: Scope) -> bool: ...

    def __call__(self, node: "exp.Column") -> "exp.Expr": ...


@dataclass(frozen=True, slots=True)
class Around:
    """`rows`: with the static relations; `keys`: by which they are numbered; `told`: what is said
    of the rows that are told; `put`: puts what it is in the place of columns; `added`: the
    relations, by their aliases."""

    rows: "exp.Select"
    keys: "tuple[exp.Expr, ...]"
    told: "tuple[exp.Expr, ...]"
    put: "Callable[[exp.Expr], exp.Expr]"
    added: dict[str, Relation]

    def all_columns(self) -> "list[exp.Expr]":
        """The columns of the relations."""
        from sqlglot import exp

        return [
            exp.alias_(exp.column(c, alias, quoted=True), c, quoted=True)
            for alias, table in self.added.items()
            for c in column_names(table)
        ]


def list_statics(select: "exp.Select", catalog: Catalog) -> "list[tuple[str, Relation]] | None":
    """The static relations that a SELECT joins, by their aliases (None: there are other joins)."""
    from sqlglot import exp

    made: list[tuple[str, Relation]] = []
    tables = list_tables(select, catalog).tables
    for join in select.args.get("joins") or ():
        table = join.this
        more = {k for k, v in join.args.items() if v} - {"this", "on", "kind"}
        if more or str(join.args.get("kind") or "").upper() not in ("", "INNER", "CROSS"):
            return None
        known = tables.get(table.alias_or_name) if isinstance(table, exp.Table) else None
        if not isinstance(known, Relation) or table.args.get("sample"):
            return None
        made.append((table.alias_or_name, known))
    return made


def join_around(
    rows: "exp.Select",
    keys: "tuple[exp.Expr, ...]",
    around: "Sequence[tuple[str, Relation]]",
    said: "Sequence[exp.Expr]",
    shown: Shown,
    catalog: Catalog,
) -> Around:
    """The rows with what is around their numbers.

    What compares columns by which rows are numbered with columns of static relations holds of all
    rows of a key, or of none, so that it may as well be said before they are numbered, for each row
    of the relations by itself: the key of these comes to that of the rows. A relation of which
    every row of the stream refers to exactly one row is no more than columns of it.

    Args:
        rows: without numbers.
        keys: by which rows are numbered.
        around: the relations.
        said: the conditions on the rows and the relations.
        shown: what the rows show.
        catalog: the tables.

    Raises:
        SqlRefusal: a relation is joined by something else.
    """
    from sqlglot import exp

    made, mine = rows.copy(), list_tables(rows, catalog)
    others, own = Scope(catalog, dict(around)), list(mine.tables)
    names: dict[str, str] = {}
    for alias, _ in around:
        tried = (alias if n == 0 else f"{alias} {n}" for n in count())
        names[alias] = next(n for n in tried if n.lower() not in {o.lower() for o in own})
        own.append(names[alias])

    def replace_column(node: "exp.Column") -> "exp.Expr":
        if shown.is_own(node, others):
            return shown(node)
        found = resolve(others, node)
        return shown(node) if found is None else exp.column(found[1], names[found[0]], quoted=True)

    def put(tree: "exp.Expr") -> "exp.Expr":
        changed = exp.Paren(this=tree.copy())
        for node in list_outer(changed, catalog):
            node.replace(replace_column(node))
        return changed.this  # type: ignore[no-any-return]

    added = {names[alias]: table for alias, table in around}
    conditions = [put(c) for c in said]
    looked_up = {
        a: pairs for a, r in added.items() if (pairs := _list_pairs(a, r, conditions, mine))
    }
    numbered_by = {resolve(mine, k) for k in keys}
    more: list[exp.Expr] = []
    told: list[exp.Expr] = []
    for alias, relation in added.items():
        made = made.join(exp.to_table(relation.name).as_(alias, quoted=True), join_type="cross")
        if alias in looked_up:
            continue
        if not relation.keys:
            raise _refuse(alias, f"keys = [[…]] in [relations.{relation.name}]", rows)
        more += [exp.column(c, alias, quoted=True) for c in relation.keys[0]]
    for condition in conditions:
        columns = list_outer(condition, catalog)
        joined = {c.table for c in columns} & added.keys()
        of_key = all(
            c.table not in looked_up if c.table in added else resolve(mine, c) in numbered_by
            for c in columns
        )
        looks_up = any(_read_pair(a, condition, mine) in looked_up[a] for a in looked_up)
        if of_key or looks_up:
            made.where(condition, copy=False)
        elif joined <= looked_up.keys():
            told.append(condition)
        else:
            (alias, *_) = sorted(joined - looked_up.keys())
            fix = f'references = [{{ columns = […], relation = "{added[alias].name}", to = […] }}]'
            raise _refuse(alias, f"{fix} of what is compared, if it is never NULL", condition)
    return Around(made, (*keys, *more), tuple(told), put, added)


def _refuse(alias: str, declared: str, place: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        f"{alias} is joined with the first rows of each key by something else than the key",
        why="it may take away rows that were numbered, or have several for one",
        fix=f"declare {declared}; or join it in the subquery, before rows are numbered",
        line=line_of(place),
    )


_Pair: TypeAlias = tuple[tuple[str, str], str]
"""A column of the rows, and one of a relation that equals it."""


def _read_pair(alias: str, condition: "exp.Expr", mine: Scope) -> _Pair | None:
    """What an equality compares of a relation (None: it is something else)."""
    from sqlglot import exp

    if not isinstance(condition, exp.EQ):
        return None
    one, other = condition.this, condition.expression
    if isinstance(one, exp.Column) and one.table == alias:
        one, other = other, one
    if not isinstance(other, exp.Column) or other.table != alias:
        return None
    found = resolve(mine, one) if isinstance(one, exp.Column) else None
    return None if found is None else (found, other.name)


def _list_pairs(
    alias: str, relation: Relation, conditions: "Sequence[exp.Expr]", mine: Scope
) -> set[_Pair]:
    """The equality by which every row refers to exactly one row of a relation, by what is
    declared (none: it does not)."""
    said = {_read_pair(alias, c, mine) for c in conditions}
    for name, stream in mine.tables.items():
        for reference in stream.references if isinstance(stream, Stream) else ():
            wanted = {
                ((name, c), to) for c, to in zip(reference.columns, reference.to, strict=True)
            }
            known = [stream.column(c) for c in reference.columns]
            if reference.relation != relation.name or len(known) != 1 or not wanted <= said:
                continue
            there = all(c is not None and not c.nullable for c in known)
            if there and any(set(key) <= set(reference.to) for key in relation.keys):
                return wanted
    return set()
