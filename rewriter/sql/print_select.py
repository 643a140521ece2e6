"""One SELECT of an SPJ query: FROM, WHERE, DISTINCT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.list_domains import DomainFilter
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.spj import NotNull
from ontoweir.rewriter.sql.print_buckets import print_buckets
from ontoweir.rewriter.sql.print_condition import needs_quotes, print_condition, print_domain
from ontoweir.rewriter.sql.print_derived import print_derived
from ontoweir.rewriter.sql.shorten_aliases import rename_tables, shorten_aliases
from ontoweir.rewriter.sql.unite_filters import Conjunct, Either, Selection

if TYPE_CHECKING:
    from sqlglot import exp


def print_select(
    selection: Selection,
    columns: list[exp.Expr],
    catalog: Catalog,
    *,
    distinct: bool,
    dialect: str,
    groups: Sequence[exp.Expr] = (),
    short: bool = True,
) -> exp.Select:
    """SELECT of some columns over the rows of a selection (its outputs are not looked at).

    `columns` have the query's aliases; `short`: in the tree these are short (`shorten_aliases`).
    """
    from sqlglot import exp

    query = selection.query
    types = Types(catalog, query.occurrences)
    if not columns:
        columns.append(exp.alias_(exp.Literal.number(1), "matched"))
    tables: list[exp.Table] = []
    aliases = shorten_aliases(query.occurrences) if short else {}
    for occurrence in query.occurrences:
        name = aliases.get(occurrence.alias, occurrence.alias)
        alias = exp.to_identifier(name, quoted=needs_quotes(name)) if name else None
        table = exp.Table(
            this=exp.to_identifier(occurrence.table, quoted=needs_quotes(occurrence.table)),
            alias=exp.TableAlias(this=alias) if alias and name != occurrence.table else None,
        )
        tables.append(table)
    where: exp.Expr | None = None
    conjuncts = (c for c in selection.conjuncts if not _always_holds(c))
    for made in (_print_conjunct(c, types, dialect) for c in conjuncts):
        where = made if where is None else exp.And(this=where, expression=made)
    # select(), join() and where() would copy the tree each time, and parse
    tree = exp.Select(expressions=columns)
    if tables:
        tree.from_(tables[0], copy=False)
    for table in tables[1:]:
        tree.append("joins", exp.Join(this=table))
    if where is not None:
        tree.set("where", exp.Where(this=where))
    if groups:
        tree.set("group", exp.Group(expressions=list(groups)))
    if distinct:
        tree.distinct(copy=False)
    print_buckets(tree, types, dialect)
    print_derived(tree, types, dialect)
    rename_tables(tree, aliases)
    if dialect in _CONCAT:
        return tree
    made = tree.transform(_as_concatenation, dialect)
    assert isinstance(made, exp.Select)
    return made


def _always_holds(conjunct: Conjunct) -> bool:
    """Every row lies in a bucket of time."""
    return isinstance(conjunct, NotNull) and is_bucket(conjunct.attribute.column)


def _print_conjunct(conjunct: Conjunct, types: Types, dialect: str) -> exp.Expr:
    from sqlglot import exp

    match conjunct:
        case DomainFilter():
            return print_domain(conjunct, types, dialect)
        case Either(alternatives=alternatives):
            filters = [
                exp.and_(*(print_condition(c, types, dialect) for c in f), copy=False)
                for f in alternatives
            ]
            return exp.Paren(this=exp.or_(*filters, copy=False))
        case _:
            return print_condition(conjunct, types, dialect)


def name_column(value: exp.Expr, name: str) -> exp.Expr:
    """A value under a name in SELECT: AS, unless it is a column of that name."""
    from sqlglot import exp

    if isinstance(value, exp.Column) and value.name == name:
        return value
    return exp.alias_(value, name, quoted=needs_quotes(name))


_CONCAT = ("spark", "spark2", "databricks", "duckdb", "hive")
"""Dialects whose CONCAT takes any number of values of any type."""


def _as_concatenation(node: exp.Expr, dialect: str) -> exp.Expr:
    """CONCAT of values as texts, as the dialect has it."""
    from sqlglot import exp

    if not isinstance(node, exp.Anonymous) or str(node.this).upper() != "CONCAT":
        return node
    kind = "varchar(4000)" if dialect == "oracle" else "varchar"  # there it needs a length
    texts: list[exp.Expr] = [
        e if isinstance(e, exp.Literal) else exp.cast(e.copy(), kind) for e in node.expressions
    ]
    if dialect != "oracle":
        return exp.Concat(expressions=texts, safe=False, coalesce=False)
    whole = texts[0]
    for text in texts[1:]:
        whole = exp.DPipe(this=whole, expression=text)
    return whole
