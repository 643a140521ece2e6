"""NOT EXISTS and EXISTS of rows in windows, beside rows in windows."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.count_rows import COUNT, OWN, Side, count_rows, is_plain
from ontoweir.rewriter.differences.name_columns import (
    is_known,
    is_once,
    is_static,
    name_tables,
    qualify,
)
from ontoweir.rewriter.differences.rows_beside import find_others, inside_of, read_part
from ontoweir.rewriter.differences.since_first import since_first
from ontoweir.rewriter.expressions.spell_constants import spell
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_later import rank_greatest
from ontoweir.rewriter.windows.rows_leave import has_now, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_LEAST, _MOST = f"MIN(`{COUNT}`)", f"MAX(`{COUNT}`)"


def compare_windows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of rows in windows, or of static relations, beside which rows of windows are, or are
    not, as groups of these rows and of their matches with the others, by what is shown and
    compared; another query as it is.

    All rows of a group have the same others beside them, as these depend on what is compared. Where
    only equal values are compared, and no others are shown, the others themselves take the place of
    the matches. Where some must be there, signs say whose a row is: 1 of what must not be beside
    them, 2 the rows themselves, 3 and more of each that must. Rows of static relations hold from
    the first timestamp of the others' streams on, and what is beside them may have no window. Rows
    without a greater one of the same rows are those of rank 1.
    """
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None or not isinstance(tree, exp.Select) or not is_plain(tree, "distinct"):
        return tree
    outside = list_tables(tree, catalog)
    static = is_known(tree, outside) and is_static(outside)
    if not static and not rows_leave(tree):
        return tree
    conjuncts = list(split_conjuncts(where.this))
    found = [c for c in conjuncts if inside_of(c) is not None and (static or has_now(c))]
    absent = [isinstance(c.unnest(), exp.Not) for c in found]
    if not found:
        return tree
    if (ranked := rank_greatest(tree, catalog)) is not tree:
        return ranked
    if any(c.find(exp.Query) for c in conjuncts if c not in found):
        return tree
    parts = [read_part(c, outside, catalog) for c in found]
    if not is_known(tree, outside) or any(part is None for part in parts):
        return tree
    beside = [part for part in parts if part is not None]
    streams = [t for part in beside for t in part.streams]
    if static and not streams:
        return tree
    shown = [_show(e, outside, static=static) for e in tree.expressions]
    keys = [k for part in beside for k in part.compared if k not in shown]
    if None in shown or not shown or (tree.args.get("distinct") is not None and keys):
        return tree  # a row that is shown may be of several groups
    rest = [c for c in conjuncts if c not in found]
    mine = tree.copy()
    mine.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    name_tables(mine, outside)
    columns = tuple(e for e in [*shown, *dict.fromkeys(keys)] if e is not None)
    if any(e.find(exp.Column) is None for e in columns):
        return tree
    others = [find_others(mine, part, columns, outside, static=static) for part in beside]
    if any(side is None for side in others):
        return tree
    first = Side(since_first(mine, streams, catalog) if static else mine, columns, 1)
    there, once = absent.count(False), static and is_once(outside, columns)
    if not there or len(absent) == 1:
        sides = [first, *(side for side in others if side is not None)]
        having = f"{_LEAST} < 1 AND {_MOST} > 0" if there else f"{_LEAST} > 0"
        often = _MOST if once else f"SUM(`{COUNT}`)"
    else:
        sides, signs = [replace(first, sign=2, own=1)], iter(range(3, 3 + there))
        for side, away in zip(others, absent, strict=True):
            assert side is not None
            sides.append(replace(side, sign=1 if away else next(signs)))
        kinds = f"{_MOST} = 3" if there == 1 else f"COUNT(DISTINCT `{COUNT}`) = {there + 1}"
        having = f"{_LEAST} = 2 AND {kinds}"
        often = f"MAX(`{OWN}`)" if once else f"SUM(`{OWN}`)"
    names = [e.alias_or_name for e in tree.expressions]
    distinct = tree.args.get("distinct") is not None
    return count_rows(sides, names, having, None if distinct else often)


def _show(item: "exp.Expr", scope: Scope, *, static: bool) -> "exp.Expr | None":
    """What is selected, with the tables of its columns; beside `static` rows a constant is one of
    each of them."""
    from sqlglot import exp

    made = qualify(item.unalias(), scope)
    if made is None or not static or made.find(exp.Column) is not None:
        return made
    alias, table = next(iter(scope.tables.items()))
    return spell(made, exp.column(table.columns[0].name, alias, quoted=True))
