"""Read a condition on the rows of one table, as a person writes it."""

from dataclasses import replace

from ontoweir.errors import UsageError
from ontoweir.mappings.model.catalog import BooleanType, Catalog, Relation
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql_expressions.parse_names import parse_names
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression


def read_condition(text: str, relation: Relation) -> Expression:
    """A condition, such as `speed > 100 AND road LIKE 'Ring%'`, typed.

    Args:
        text: SQL.
        relation: the table, with the columns that it may name.

    Raises:
        UsageError: it is no condition on these columns.
    """
    try:
        known = Catalog({}, {"answers": replace(relation, name="answers")})
        tree = parse_names(f"SELECT 1 FROM answers WHERE {text}", known)
        where = tree.args.get("where")
        if where is None or any(tree.args.get(part) for part in ("group", "order", "limit")):
            raise _refuse(text, "more is written than a condition", "write only what is to hold")
        condition = read_row_expression(where.this, Scope(Catalog(), {relation.name: relation}))
    except SqlRefusal as error:
        raise _refuse(text, error.why, error.fix, error.what) from None
    if not isinstance(condition.type, BooleanType):
        raise _refuse(text, "it is a value, which is neither true nor false", "compare it")
    return condition


def _refuse(text: str, why: str, fix: str, what: str | None = None) -> UsageError:
    shown = f"the condition {text!r}"
    return UsageError(f"{shown}: {what}" if what else f"{shown} is none", why=why, fix=fix)
