"""Puts streams of rows that have met their version in the place of tables in SQL, so that one
expression may read both."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import Catalog, KeyConstant, Meeting, Relation, Stream
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.model.spj import Block
from ontoweir.rewriter.versions.declare_meeting import declare_meeting, plain_streams

if TYPE_CHECKING:
    from sqlglot import exp


def meet_tables(
    tree: "exp.Query", catalog: Catalog
) -> "tuple[exp.Query, Catalog, tuple[Block, ...]]":
    """A query without subqueries, where conditions say at the time of which row a relation that
    changes is read, and that all of its key equals columns of that row: as a query of the rows that
    have met it. What is not said so plainly is left.

    Args:
        tree: the query.
        catalog: the tables.

    Returns:
        The query, the catalog with the streams of such rows, and these.
    """
    from sqlglot import exp

    if not any(s.versions is not None for s in catalog.streams.values()):
        return tree, catalog, ()
    tree = tree.copy()
    blocks: dict[str, Block] = {}
    for select in tree.find_all(exp.Select):
        while (made := _meet_one(select, catalog)) is not None:
            blocks[made.stream.name] = made
            catalog = replace(catalog, streams={**catalog.streams, made.stream.name: made.stream})
    return tree, catalog, tuple(blocks.values())


def _meet_one(select: "exp.Select", catalog: Catalog) -> Block | None:
    from sqlglot import exp

    try:
        scope, _, predicates = read_from(select.copy(), catalog)
    except SqlRefusal:
        return None  # it is refused where it is read
    if (where := select.args.get("where")) is not None:
        predicates.append(where.this)
    equal = [c for p in predicates for c in split_conjuncts(p) if isinstance(c, exp.EQ)]
    joins = list(select.args.get("joins") or ())
    if any(join.args.get("using") for join in joins):
        return None
    for alias, relation in scope.tables.items():
        if not isinstance(relation, Stream) or relation.versions is None:
            continue
        for host, _, _ in _equals(scope, equal, alias, AS_OF):
            base = None if host is None else scope.tables[host[0]]
            if host is None or not isinstance(base, Stream) or base.versions is not None:
                continue
            if host[1] != base.timestamp:
                continue
            key: list[tuple[str | KeyConstant, str]] = []
            used: list[exp.Expr] = []
            for column in relation.versions.key:
                if (one := _find_own(scope, equal, (alias, column), host[0])) is not None:
                    key.append((one[0], column))
                    used.append(one[1])
            if len(key) == len(relation.versions.key):
                # (columns of two aliases are two, as of one of them they may be NULL in answers)
                plain = plain_streams(catalog)
                made = declare_meeting(plain[base.name], relation, tuple(key), plain, {}, None)
                if not relation.versions.optional:  # else they are not equal where there is none
                    used = []
                _substitute(select, scope, (alias, host[0]), made, used)
                return made
    return None


def _find_own(
    scope: Scope, equal: "list[exp.EQ]", column: tuple[str, str], host: str
) -> "tuple[str | KeyConstant, exp.Expr] | None":
    """What a column of a key is said to equal, a column of the row or a constant; and where."""
    declared = scope.tables[column[0]].column(column[1])
    assert declared is not None
    for other, constant, condition in _equals(scope, equal, *column):
        if constant is not None:
            return constant, condition
        own = None if other is None or other[0] != host else scope.tables[host].column(other[1])
        if own is not None and own.type == declared.type:
            return own.name, condition
    return None


def _equals(
    scope: Scope, equal: "list[exp.EQ]", alias: str, column: str
) -> "Iterator[tuple[tuple[str, str] | None, KeyConstant | None, exp.EQ]]":
    """The columns, and the constants, that a column is said to equal; and where."""
    from sqlglot import exp

    for condition in equal:
        for one, other in (
            (condition.this, condition.expression),
            (condition.expression, condition.this),
        ):
            if _resolve(scope, one) != (alias, column):
                continue
            if isinstance(other, exp.Column):
                yield _resolve(scope, other), None, condition
            elif (value := read_literal(other)) is not None and not other.find(exp.Cast):
                yield None, KeyConstant(value), condition


def _resolve(scope: Scope, tree: "exp.Expr") -> tuple[str, str] | None:
    from sqlglot import exp

    if not isinstance(tree, exp.Column) or isinstance(tree.this, exp.Star):
        return None
    try:
        found = scope.resolve(tree.table or None, tree.name)
    except SqlRefusal:
        return None
    return found.alias, found.column


def _has(name: str, table: Stream | Relation) -> bool:
    return find_name(name, column_names(table)) is not None


def _remove(select: "exp.Select", condition: "exp.Expr") -> None:
    """Remove a condition once: from ON, or else from WHERE, where it was written in ON before."""
    from sqlglot import exp

    places = [(join, "on") for join in select.args.get("joins") or ()]
    places += [(w, "this") for w in (select.args.get("where"),) if w is not None]
    for holder, key in places:
        held = list(split_conjuncts(holder.args[key])) if holder.args.get(key) else []
        if condition in held:
            held.remove(condition)
            holder.set(key, exp.and_(*(c.copy() for c in held)) if held else exp.true())
            return


def _substitute(
    select: "exp.Select",
    scope: Scope,
    aliases: tuple[str, str],
    made: Block,
    used: "list[exp.Expr]",
) -> None:
    """Read the stream in the place of both tables, the relation and the stream that it is joined
    with; without some conditions of the join."""
    from sqlglot import exp

    alias, host = aliases
    for condition in used:
        _remove(select, condition)
    stream, meeting = made.stream, made.meeting
    assert isinstance(meeting, Meeting)
    names = {AS_OF: stream.timestamp, **dict(meeting.columns)}
    shown = [(c, c.alias_or_name) for c in select.expressions]
    for item, name in shown:
        if not isinstance(item, exp.Alias) and _resolve(scope, item) is not None:
            item.replace(exp.alias_(item.copy(), name, quoted=True))
    nodes = [n for n in select.walk() if isinstance(n, exp.Column)]
    for column in nodes:
        found = _resolve(scope, column)
        if found is None:
            several = sum(map(partial(_has, column.name), scope.tables.values())) > 1
            star = isinstance(column.this, exp.Star)
            if not star and (column.table or several):
                scope.resolve(column.table or None, column.name, line_of(column))  # which refuses
            continue
        if found[0] == alias:
            found = host, names[found[1]]
        replaced = exp.column(found[1], found[0], quoted=True)
        replaced.this.meta.update(column.this.meta)
        column.replace(replaced)
    on = []
    joins = list(select.args.get("joins") or ())
    for join in joins:
        if join.this.alias_or_name == alias:
            on += [join.args["on"]] if join.args.get("on") is not None else []
    select.set("joins", [j for j in joins if j.this.alias_or_name != alias])
    start = select.args.get("from_")
    if start is not None and start.this.alias_or_name == alias:
        first = cast("exp.Join", select.args["joins"][0])
        on += [first.args["on"]] if first.args.get("on") is not None else []
        start.set("this", first.this)
        select.set("joins", select.args["joins"][1:])
    for condition in on:
        select.where(condition, copy=False)
    for equal in list(select.find_all(exp.EQ)):
        time = exp.column(stream.timestamp, host, quoted=True)
        if equal.this == time == equal.expression:
            equal.replace(exp.true())
    for table in select.find_all(exp.Table):
        if table.alias_or_name == host:
            named = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
            named.set("alias", exp.TableAlias(this=exp.to_identifier(host, quoted=True)))
            table.replace(named)
