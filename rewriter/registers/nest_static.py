"""EXISTS and IN of static relations beside joins of streams, as conditions of one row."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.name_columns import is_known, is_static
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp


def nest_static(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of inner joins of several streams with FROM (SELECT * FROM s WHERE EXISTS (…)) AS s
    in the place of FROM s … WHERE EXISTS (…), where a subquery is of static relations, and compares
    columns of s alone; another query as it is. IN, and what is negated, likewise.

    Static relations do not change, so this is known of a row when it comes, whatever it is joined
    with later; of the matches it would have to be known as long as these may come.

    Args:
        tree: the query.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not tree.args.get("where"):
        return tree
    where: exp.Expr = tree.args["where"]
    scope = list_tables(tree, catalog)
    streams = [a for a, t in scope.tables.items() if isinstance(t, Stream)]
    if len(streams) < 2 or not is_known(tree, scope) or _joins_otherwise(tree):
        return tree
    nested: dict[str, list[exp.Expr]] = {}
    rest: list[exp.Expr] = []
    for conjunct in split_conjuncts(where.this):
        alias = _find_row(conjunct, scope, catalog)
        if alias in streams:
            nested.setdefault(alias, []).append(conjunct.copy())
        else:
            rest.append(conjunct.copy())
    if not nested:
        return tree
    made = tree.copy()
    made.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
    for place in [made.args["from_"], *made.args["joins"]]:
        alias = place.this.alias_or_name
        if alias in nested:
            inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=place.this.copy()))
            inner.set("where", exp.Where(this=exp.and_(*nested[alias], copy=False)))
            named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
            place.set("this", exp.Subquery(this=inner, alias=named))
    return made


def _joins_otherwise(tree: "exp.Select") -> bool:
    """Whether it has joins that are not inner ones."""
    return any(
        j.args.get("side") or j.args.get("method") or j.args.get("kind") in ("SEMI", "ANTI")
        for j in tree.args.get("joins") or ()
    )


def _find_row(conjunct: "exp.Expr", scope: Scope, catalog: Catalog) -> str | None:
    """The table whose rows alone a condition on the presence of static rows is about (None: it is
    another condition)."""
    from sqlglot import exp

    asked = conjunct
    while isinstance(asked, (exp.Not, exp.Paren)):
        asked = asked.this
    match asked:
        case exp.Exists(this=exp.Select() as inner):
            around: list[exp.Expr] = []
        case exp.In() if asked.args.get("query") is not None:
            inner, around = asked.args["query"].unnest(), list(asked.this.find_all(exp.Column))
            if not isinstance(inner, exp.Select):
                return None
        case _:
            return None
    if has_now(conjunct) or inner.args.get("with_"):
        return None
    inside = list_tables(inner, catalog)
    if (
        not is_known(inner, inside)
        or not is_static(inside)
        or len(list(inner.find_all(exp.Query))) > 1
    ):
        return None
    around += [c for c in inner.find_all(exp.Column) if not _is_inside(c, inside)]
    named = {None if (of := resolve(scope, c)) is None else of[0] for c in around}
    return named.pop() if len(named) == 1 else None


def _is_inside(column: "exp.Expr", inside: Scope) -> bool:
    """Whether a column is one of the subquery's own tables, or all of them."""
    from sqlglot import exp

    return isinstance(column.this, exp.Star) or resolve(inside, column) is not None
