"""How many rows of a static relation there are beside which rows of streams are, or are not."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.name_columns import is_static, name_tables
from ontoweir.rewriter.differences.rows_beside import find_others, inside_of, read_part
from ontoweir.rewriter.differences.since_first import FIRST, since_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.registers.check_calls import list_calls
from ontoweir.rewriter.registers.group_sides import GroupSide, count_marked, group_sides
from ontoweir.rewriter.registers.name_presence import is_register

if TYPE_CHECKING:
    from sqlglot import exp

_ALL = "registered"


def count_registered(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """COUNT(*) of rows of one static relation with a key of one column, beside which rows of
    streams are, or are not, in groups of its columns, as the number of all less that of different
    keys among the matches, or the latter; another query as it is."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not is_register(tree, catalog):
        return tree
    where, group = tree.args.get("where"), tree.args.get("group")
    allowed = {"expressions", "from_", "where", "group", "having"}
    if where is None or {k for k, v in tree.args.items() if v} - allowed:
        return tree
    scope, made = list_tables(tree, catalog), tree.copy()
    name_tables(made, scope)
    key = _find_key(scope)
    columns = [] if group is None else list(made.args["group"].expressions)
    if key is None or not all(isinstance(c, exp.Column) and c.table for c in columns):
        return tree
    calls = list_calls(made)
    counted = [c for c in calls if isinstance(c, exp.Count) and isinstance(c.this, exp.Star)]
    if not calls or len(counted) < len(calls) or key in columns:
        return tree
    conjuncts = list(split_conjuncts(made.args["where"].this))
    found = [c for c in conjuncts if inside_of(c) is not None]
    rest = [c for c in conjuncts if c not in found]
    absent = all(isinstance(c.unnest(), exp.Not) for c in found)
    if not found or (len(found) > 1 and not absent) or any(c.find(exp.Query) for c in rest):
        return tree
    parts = [p for c in found if (p := read_part(c, scope, catalog)) is not None]
    streams = [t for part in parts for t in part.streams]
    mine = exp.Select(expressions=[key.copy()], from_=made.args["from_"].copy())
    if rest:
        mine.where(*(c.copy() for c in rest), copy=False)
    beside = [find_others(mine, part, (key,), scope, static=True) for part in parts]
    matches = [side.select for side in beside if side is not None]
    if not streams or len(matches) < len(found):
        return tree
    there: exp.Expr = exp.Count(this=exp.Distinct(expressions=[key.copy()]))
    number = exp.Sub(this=count_marked(_ALL), expression=there) if absent else there
    for call in counted:
        call.replace(exp.paren(number.copy()) if absent else number.copy())
    if columns:  # of no rows there is no group
        some = exp.GT(this=exp.paren(number.copy()), expression=exp.Literal.number(0))
        having = made.args.get("having")
        both = [some] if having is None else [having.this, some]
        made.set("having", exp.Having(this=exp.and_(*both)))
    hidden = frozenset({(key.table, key.name)})
    first = exp.column(FIRST, FIRST, quoted=True)
    sides = [GroupSide(since_first(mine, streams, catalog), first, hidden, {_ALL: 1})]
    sides += [GroupSide(select, key, frozenset(), {_ALL: 0}) for select in matches]
    return group_sides(made, sides, scope, ("group", "having"))


def _find_key(scope: Scope) -> "exp.Column | None":
    """The one column that is a key of the one relation, and never NULL (None: there is none)."""
    from sqlglot import exp

    if len(scope.tables) != 1 or not is_static(scope):
        return None
    ((alias, table),) = scope.tables.items()
    assert isinstance(table, Relation)
    nullable = {c.name for c in table.columns if c.nullable}
    keys = [key[0] for key in table.keys if len(key) == 1 and key[0] not in nullable]
    return exp.column(keys[0], alias, quoted=True) if keys else None
