"""How a list of texts is written in SQL: STRING_AGG, LISTAGG, GROUP_CONCAT."""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.mappings.sql_expressions.read_sorted_text import DIGITS, SORTED_TEXT
from ontoweir.rewriter.model.aggregation import Listing

if TYPE_CHECKING:
    from sqlglot import exp

_LISTING = "listing"


def name_list(call: "exp.GroupConcat") -> None:
    """Read off, and take away, in which order a call lists its values: by the values themselves
    (so it does where nothing is said), or by columns of their rows, then by themselves.

    Raises:
        SqlRefusal: it is ordered by something else, or does not say what is between values.
    """
    from sqlglot import exp

    if _LISTING in call.meta:
        return
    argument, orders = call.this, []
    if isinstance(argument, exp.Order):
        argument, orders = argument.this, argument.expressions
    separator = call.args.get("separator")
    if not isinstance(separator, exp.Literal) or not separator.is_string:
        raise _refuse(call, "without a text between values", "write it: STRING_AGG(x, ', ')")
    distinct = isinstance(argument, exp.Distinct)
    if distinct and len(argument.expressions) != 1:
        raise _refuse(call, "of several columns", "put them together: a || ' ' || b")
    value = argument.expressions[0] if distinct else argument
    falls = bool(orders) and bool(orders[0].args.get("desc"))
    keys = [o.this for o in orders]
    if keys and keys[-1] == value:
        keys.pop()
    turned = any(bool(o.args.get("desc")) is not falls for o in orders)
    if turned or (distinct and keys) or not all(isinstance(key, exp.Column) for key in keys):
        fix = "order by times, dates and whole numbers, and by the value, all in one direction"
        raise _refuse(call, "in another order", "order by the value" if distinct else fix)
    for key in reversed(keys):
        text = exp.Anonymous(this=SORTED_TEXT, expressions=[key.copy()])
        value = exp.DPipe(this=text, expression=exp.Paren(this=value.copy()))
    if keys and isinstance(call.parent, exp.Select):
        named = exp.alias_(exp.Null(), call.sql("spark"), quoted=True)
        call.replace(named)
        named.set("this", call)
    unseen = DIGITS * len(keys)
    call.set("this", exp.Distinct(expressions=[value]) if distinct else value)
    call.meta[_LISTING] = Listing(str(separator.this), falls, unseen)


def listing_of(call: "exp.Expr") -> Listing | None:
    """How a call lists its values, of name_list."""
    found: Listing | None = call.meta.get(_LISTING)
    return found


def _refuse(call: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{show_sql(call)}: a list {what}",
        why="of equal lists the order must be the same, live and replayed",
        fix=fix,
        line=line_of(call),
    )
