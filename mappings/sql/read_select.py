"""Reads `SELECT … FROM … WHERE …` over the catalog into select-project-join parts.

Used for rr:sqlQuery (read_mapping_query) and for `check --sql`. Anything beyond SPJ is refused by
its name.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.assertion import SourceColumn, SourceTable
from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.mappings.sql.parse_statements import parse_statements
from ontoweir.mappings.sql.read_comparison import Alternatives
from ontoweir.mappings.sql.read_condition import (
    conjoin,
    read_condition,
)
from ontoweir.mappings.sql.read_expression import SourceText, read_expression
from ontoweir.mappings.sql.read_literal import line_of, read_literal, type_as_written
from ontoweir.mappings.sql.read_scope import (
    Scope,
    SqlRefusal,
    column_names,
    find_name,
    find_table,
)
from ontoweir.mappings.sql.refuse_clauses import refuse_clauses, refuse_sql
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

Projection: TypeAlias = tuple[str, SourceColumn | Scalar]
"""An output column: its name, and a column or a constant."""

MappingValue: TypeAlias = SourceColumn | SourceText | Scalar
"""An output column of a mapping's SQL: also a text made from columns."""


@dataclass(frozen=True, slots=True)
class SelectShape:
    """One SELECT: tables, a disjunction of conjunctions, output columns, DISTINCT.

    Of a mapping's SQL the output columns are `values`, and `projections` is empty.
    """

    tables: tuple[SourceTable, ...]
    alternatives: Alternatives
    projections: tuple[Projection, ...]
    distinct: bool
    scope: Scope
    line: int | None
    values: tuple[tuple[str, MappingValue], ...] = ()


@dataclass(frozen=True, slots=True)
class SelectUnion:
    """SELECTs under UNION ALL (`distinct` False) or UNION.

    `deduplicated` are the groups of SELECTs, by position, from whose rows together a DISTINCT or
    a UNION, anywhere in the SQL, removes duplicates.
    """

    selects: tuple[SelectShape, ...]
    distinct: bool
    deduplicated: tuple[tuple[int, ...], ...] = ()


def read_select_tree(
    tree: "exp.Query",
    catalog: Catalog,
    *,
    mapping: bool = False,
    nulls: bool = False,
    nullable: Set[int] = frozenset(),
) -> SelectUnion:
    """Reads SQL whose expressions are columns already (derive_query_columns).

    Args:
        tree: what parse_sql_text gives.
        catalog: the tables.
        mapping: it is a mapping's: texts made from columns are read too, and the alternatives of
            OR exclude each other in any case, as each becomes an assertion.
        nulls: rows count although a selected column is NULL, as the matches of aggregates do (of
            one SELECT).
        nullable: places in SELECT that may be NULL in answers.

    Raises:
        SqlRefusal: it is beyond SPJ, or names what the catalog does not declare.
    """
    if nulls:
        shape = _read_one(cast("exp.Select", tree), catalog, False, mapping, nulls=True)
        return SelectUnion((shape,), shape.distinct, ((0,),) if shape.distinct else ())
    return _read_query(tree, catalog, mapping=mapping, nullable=nullable)


def parse_sql_text(text: str) -> "exp.Query":
    """One SELECT, or several under UNION.

    Raises:
        SqlRefusal: the text is not SQL, or another statement.
    """
    import logging

    from sqlglot import errors, exp

    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        parsed = parse_statements(text)
    except RecursionError:
        raise SqlRefusal(
            "the SQL is nested too deeply",
            why="it is read by recursion, in which every term of a chain counts",
            fix="write fewer conditions and terms, and remove superfluous parentheses",
        ) from None
    except errors.SqlglotError as error:
        if (row := re.search(r"\bMATCH_RECOGNIZE\b", text, re.IGNORECASE)) is not None:
            raise SqlRefusal(
                "MATCH_RECOGNIZE",
                why="patterns of rows are read as joins of a stream with itself",
                fix="write each row of the pattern as a table in FROM with the same key, their "
                "order as a.ts < b.ts, and what may not lie between as NOT EXISTS (SELECT 1 FROM "
                "s x WHERE x.k = a.k AND x.ts > a.ts AND x.ts < b.ts)",
                line=text.count("\n", 0, row.start()) + 1,
            ) from None
        details = getattr(error, "errors", None) or [{}]
        raise SqlRefusal(
            f"not SQL: {_in_words(str(details[0].get('description') or error))}",
            why="it is read as Spark SQL",
            fix=f"mend the text near {details[0].get('highlight', '')!r}",
            line=details[0].get("line"),
        ) from None
    trees = [t for t in parsed if t is not None and not isinstance(t, exp.Semicolon)]
    if len(trees) != 1:
        raise SqlRefusal(
            f"{len(trees)} SQL statements", why="one SELECT is read", fix="write one SELECT"
        )
    tree = trees[0]
    if not isinstance(tree, (exp.Select, exp.SetOperation, exp.Subquery)):
        raise refuse_sql(tree, "a statement other than SELECT")
    while isinstance(tree, exp.Subquery) and not tree.args.get("alias"):
        refuse_clauses(tree)
        tree = tree.this
    return cast("exp.Query", tree)


def _in_words(description: str) -> str:
    """sqlglot's description of an error without the names of its classes.

    >>> _in_words("Required keyword: 'this' missing for <class 'sqlglot.expressions.core.GTE'>")
    'an operand is missing'
    """
    if description.startswith("Required keyword"):
        return "an operand is missing"
    return re.sub(r"<Token .*?text: (.*?), line: .*>", r"\1", description)


def _read_query(
    tree: "exp.Expr",
    catalog: Catalog,
    *,
    mapping: bool,
    nullable: Set[int],
    inside_distinct: bool = False,
) -> SelectUnion:
    from sqlglot import exp

    while isinstance(tree, exp.Subquery) and not tree.args.get("alias"):
        refuse_clauses(tree)
        tree = tree.this
    if isinstance(tree, (exp.Intersect, exp.Except)):
        raise refuse_sql(tree, type(tree).__name__.upper())
    if isinstance(tree, exp.Union):
        refuse_clauses(tree)
        distinct = bool(tree.args.get("distinct"))
        inside = distinct or inside_distinct
        left, right = (
            _read_query(side, catalog, mapping=mapping, nullable=nullable, inside_distinct=inside)
            for side in (tree.this, tree.expression)
        )
        if not inside and not mapping and (left.distinct or right.distinct):
            raise SqlRefusal(
                "UNION ALL of duplicate-free queries",
                why="one union has one semantics: all with duplicates, or none",
                fix="write UNION throughout, or remove DISTINCT",
                line=line_of(tree),
            )
        selects, size = (*left.selects, *right.selects), len(left.selects)
        groups = [*left.deduplicated, *(tuple(i + size for i in g) for g in right.deduplicated)]
        if distinct:
            groups.append(tuple(range(len(selects))))
        return SelectUnion(selects, distinct, tuple(groups))
    if not isinstance(tree, exp.Select):
        raise refuse_sql(tree, type(tree).__name__)
    shape = _read_one(tree, catalog, inside_distinct, mapping, nullable=nullable)
    return SelectUnion((shape,), shape.distinct, ((0,),) if shape.distinct else ())


def _read_one(
    tree: "exp.Select",
    catalog: Catalog,
    inside_distinct: bool,
    mapping: bool,
    *,
    nulls: bool = False,
    nullable: Set[int] = frozenset(),
) -> SelectShape:
    refuse_clauses(tree)
    distinct = tree.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise refuse_sql(tree, "DISTINCT ON")
    scope, tables, predicates = read_from(tree, catalog)
    if (where := tree.args.get("where")) is not None:
        predicates.append(where.this)
    if not mapping and not nulls:  # what is selected is not NULL either (parse_sql)
        selected = (
            column
            for place, e in enumerate(tree.expressions)
            if place not in nullable
            for _, column in read_projection(e, scope)
            if isinstance(column, SourceColumn)
            and not is_nullable(scope.tables[column.alias], column.column)
        )
        scope.known = frozenset(selected)
    scope.conjuncts = tuple(predicates)
    bag = mapping or (distinct is None and not inside_distinct)
    alternatives: Alternatives = ((),)
    for predicate in predicates:
        alternatives = conjoin(alternatives, read_condition(predicate, scope, bag=bag))
    values: list[tuple[str, MappingValue]] = []
    projections: list[Projection] = []
    for e in tree.expressions:
        made = read_expression(e.unalias(), scope) if mapping else None
        if made is not None:
            values.append((e.alias_or_name or e.sql("spark"), made))
        else:
            projections.extend(projected := read_projection(e, scope))
            values.extend(projected)
    return SelectShape(
        tuple(tables),
        alternatives,
        () if mapping else tuple(projections),
        distinct is not None,
        scope,
        line_of(tree),
        tuple(values) if mapping else (),
    )


def read_from(
    tree: "exp.Select", catalog: Catalog
) -> tuple[Scope, list[SourceTable], "list[exp.Expr]"]:
    """The tables of FROM and its joins, and the conditions of ON and USING.

    Raises:
        SqlRefusal: unknown tables, or beyond inner joins of tables.
    """
    start = tree.args.get("from_") or tree.args.get("from")
    if start is None:
        raise SqlRefusal(
            "SELECT without FROM",
            why="rows come from declared tables",
            fix="add FROM; of whether there are rows in a window, write SELECT COUNT(*) AS n FROM "
            "… WHERE ts > NOW() - INTERVAL '1' HOUR HAVING COUNT(*) = 0",
            line=line_of(tree),
        )
    scope = Scope(catalog, {})
    tables: list[SourceTable] = []
    _add_table(start.this, scope, tables)
    predicates: list[exp.Expr] = []
    for join in tree.args.get("joins") or ():
        kind = " ".join(
            str(join.args[k]) for k in ("method", "side", "kind") if join.args.get(k)
        ).upper()
        if kind not in ("", "INNER", "CROSS"):
            raise refuse_sql(join, f"{kind} JOIN")
        refuse_clauses(join)
        seen = list(scope.tables)
        _add_table(join.this, scope, tables)
        if (on := join.args.get("on")) is not None:
            predicates.append(on)
        for name in join.args.get("using") or ():
            predicates.append(_equate(name.name, seen, tables[-1].alias, scope, line_of(join)))
    return scope, tables, predicates


def _equate(name: str, seen: list[str], joined: str, scope: Scope, line: int | None) -> "exp.Expr":
    """JOIN … USING (name): the column before the join equals that of the joined table."""
    from sqlglot import exp

    right = scope.resolve(joined, name, line)
    left = [
        SourceColumn(a, c)
        for a in seen
        if (c := find_name(name, column_names(scope.tables[a]))) is not None
        and SourceColumn(a, c) not in scope.merged
    ]
    if len(left) != 1:
        raise SqlRefusal(
            f"USING ({name}) joins a column of {joined} with {len(left)} columns",
            why=f"exactly one of {', '.join(seen)} must have a column of that name",
            fix=f"write JOIN … ON … = {joined}.{name}",
            line=line,
        )
    scope.merged |= {right}
    return exp.column(left[0].column, left[0].alias).eq(exp.column(right.column, right.alias))


def _add_table(tree: "exp.Expr", scope: Scope, tables: list[SourceTable]) -> None:
    from sqlglot import exp

    if not isinstance(tree, exp.Table) or not isinstance(tree.this, exp.Identifier):
        raise refuse_sql(tree, "a subquery in FROM" if tree.find(exp.Select) else "this FROM item")
    refuse_clauses(tree)
    if tree.args.get("joins"):
        raise refuse_sql(tree, "a nested join")
    if tree.args.get("alias") is not None and tree.args["alias"].args.get("columns"):
        raise refuse_sql(tree, "an alias with names of columns")
    name = ".".join(p.name for p in cast("list[exp.Identifier]", tree.parts))
    table = find_table(name, scope.catalog, line_of(tree))
    alias = tree.alias or name
    if alias.lower() in map(str.lower, scope.tables):
        raise SqlRefusal(
            f"the alias {alias!r} occurs twice in FROM",
            why="columns could not be told apart",
            fix=f"write {name} AS {alias}2",
            line=line_of(tree),
        )
    scope.tables[alias] = table
    tables.append(SourceTable(alias, table.name))


def read_projection(tree: "exp.Expr", scope: Scope) -> tuple[Projection, ...]:
    """The columns that an item of SELECT is.

    Raises:
        SqlRefusal: it is neither a column, nor * nor a constant.
    """
    from sqlglot import exp

    name = tree.alias_or_name
    inner = tree.unalias()
    if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and inner.is_star):
        star = inner.this if isinstance(inner, exp.Column) else inner
        if any(star.args.values()):
            raise refuse_sql(tree, "* EXCEPT")
        if scope.merged and not isinstance(inner, exp.Column):
            raise refuse_sql(tree, "* with JOIN … USING", "write the columns")
        written = inner.table if isinstance(inner, exp.Column) else ""
        alias = find_name(written, scope.tables) if written else ""
        if alias is None:
            scope.resolve(written, "*", line_of(inner))
        return tuple(
            (c, SourceColumn(a, c))
            for a, t in scope.tables.items()
            if not alias or a == alias
            for c in column_names(t)
            if (known := t.column(c)) is None or known.expression is None
        )
    if isinstance(inner, exp.Column):
        return ((name, scope.resolve(inner.table or None, inner.name, line_of(inner))),)
    constant = read_literal(inner)
    if constant is None or inner.find(exp.Cast):
        aggregate = isinstance(inner, exp.AggFunc)
        if isinstance(inner, exp.Null):
            raise SqlRefusal(
                "NULL in SELECT",
                why="a column has a type, and this one no value that says which",
                fix="write its type, as in CAST(NULL AS BIGINT), over a declared table; or leave "
                "the column out",
                line=line_of(tree),
            )
        raise SqlRefusal(
            f"{show_sql(inner)} in SELECT",
            why="only columns and constants are projected"
            + ("; aggregates are read in one SELECT without UNION" if aggregate else ""),
            fix="select the columns it is computed from; or make it a column of the data (of a "
            "static relation: in its view), and declare that in the catalog",
            line=line_of(tree),
        )
    return ((name or str(constant), type_as_written(inner, constant)),)
