"""VALUES in FROM, WITH and IN: a static relation of constants."""

from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DataSource,
    DecimalType,
    IntType,
    Relation,
    Scalar,
    StringType,
)
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

_FIX = (
    "write VALUES of whole numbers, decimals, texts, TRUE and FALSE, with a name for each column, "
    "(VALUES ('a', 1), ('b', 2)) AS t(k, n); or declare a relation of a file, [relations.NAME]"
)


def read_constants(tree: "exp.Query", catalog: Catalog) -> "tuple[exp.Query, tuple[Relation, ...]]":
    """A query in which `(VALUES ('a', 1), ('b', 2)) AS t(k, n)`, and SELECTs without FROM that are
    united by UNION ALL, are static relations; and these. They have the keys that their rows have,
    and each column the domain of its constants.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: a value is no constant, or its column has no name, or values of two types.
    """
    from sqlglot import exp

    found = [*tree.find_all(exp.Values), *(u for u in tree.find_all(exp.Union) if _is_rows(u))]
    if not found:
        return tree, ()
    tree, made = tree.copy(), dict[str, Relation]()
    for part in list(tree.find_all(exp.CTE)):
        _open_named(tree, part)
    for union in [u for u in tree.find_all(exp.Union) if _is_rows(u)]:
        _as_values(union)
    for values in list(tree.find_all(exp.Values)):
        relation = _make_relation(values, catalog)
        made[relation.name] = relation
        _put(values, relation)
    return tree, tuple(made.values())


def name_relation(catalog: Catalog, view: str) -> str:
    """A name that tells the view: queries that run together share the relations of one name."""
    taken = {n.lower() for n in (*catalog.streams, *catalog.relations)}
    name = f"static_{sha256(view.encode()).hexdigest()[:8]}"
    while name in taken:
        name += "_"
    return name


def _is_rows(union: "exp.Expr") -> bool:
    """Whether it is a UNION ALL in FROM, or WITH, of SELECTs without FROM."""
    from sqlglot import exp

    around = union.parent
    inside = isinstance(around, exp.CTE) or (
        isinstance(around, exp.Subquery) and isinstance(around.parent, (exp.From, exp.Join))
    )
    return inside and _list_rows(union) is not None


def _list_rows(union: "exp.Expr") -> "list[exp.Select] | None":
    from sqlglot import exp

    if isinstance(union, exp.Select):
        return [union] if not {k for k, v in union.args.items() if v} - {"expressions"} else None
    if not isinstance(union, exp.Union) or union.args.get("distinct"):
        return None
    if {k for k, v in union.args.items() if v} - {"this", "expression", "distinct"}:
        return None
    parts = (_list_rows(union.this), _list_rows(union.expression))
    return None if None in parts else [row for part in parts for row in part or ()]


def _as_values(union: "exp.Expr") -> None:
    """VALUES in the place of a UNION ALL, in place."""
    from sqlglot import exp

    rows = _list_rows(union) or []
    names = [e.alias for e in rows[0].expressions]
    tuples = [exp.Tuple(expressions=[e.unalias().copy() for e in r.expressions]) for r in rows]
    alias = exp.TableAlias(
        this=exp.to_identifier("rows"), columns=[exp.to_identifier(n) for n in names if n]
    )
    made = exp.Values(expressions=tuples, alias=alias)
    union.replace(exp.select("*").from_(made))


def _open_named(tree: "exp.Query", part: "exp.CTE") -> None:
    """Put VALUES that WITH names in the place of the name, in place."""
    from sqlglot import exp

    rows: exp.Expr = part.this
    if _list_rows(rows) is not None and isinstance(rows, exp.Union):
        _as_values(rows)
        rows = part.this
    if isinstance(rows, exp.Select):
        plain = not {k for k, v in rows.args.items() if v} - {"expressions", "from_"}
        start = rows.args.get("from_")
        star = len(rows.expressions) == 1 and isinstance(rows.expressions[0], exp.Star)
        rows = start.this if plain and star and start is not None else rows
    if not isinstance(rows, exp.Values):
        return
    alias, own = part.args["alias"], rows.args.get("alias")
    columns = alias.args.get("columns") or (own.args.get("columns") if own is not None else None)
    for table in [t for t in tree.find_all(exp.Table) if t.name.lower() == alias.name.lower()]:
        named = exp.TableAlias(
            this=exp.to_identifier(table.alias_or_name), columns=[c.copy() for c in columns or ()]
        )
        values = rows.copy()
        values.set("alias", named)
        table.replace(values)
    around = part.parent
    part.pop()
    if around is not None and not around.expressions:
        around.pop()


def _make_relation(values: "exp.Expr", catalog: Catalog) -> Relation:
    from sqlglot import exp

    alias = values.args.get("alias")
    names = [c.name for c in (alias.args.get("columns") or () if alias is not None else ())]
    rows = [list(row.expressions) for row in values.expressions]
    width = len(rows[0])
    if isinstance(values.parent, exp.In):
        names = [f"value {n}" for n in range(1, width + 1)]
    if any(len(row) != width for row in rows):
        raise _refuse(values, "of rows of several lengths")
    if len(names) != width or len({n.lower() for n in names}) != width:
        raise _refuse(values, "whose columns have no names, or one twice")
    cells = [[_read(cell, values) for cell in row] for row in rows]
    kept = [[row[n] for row in cells] for n in range(width)]
    columns = tuple(_type(name, column, values) for name, column in zip(names, kept, strict=True))
    listed = ", ".join(exp.Tuple(expressions=row).sql("spark") for row in rows)
    given = ", ".join(exp.to_identifier(n, quoted=True).sql("spark") for n in names)
    view = f"{VALUES} {listed} AS rows({given})"
    return Relation(
        name_relation(catalog, view),
        DataSource("", None, view=view),
        columns,
        tuple((name,) for name, column in zip(names, kept, strict=True) if _tells(column))
        or ((tuple(names),) if _tells([tuple(row) for row in cells]) else ()),
        max_rows=len(rows),
    )


VALUES = "SELECT * FROM VALUES"
"""How the view begins of a relation of constants."""


def _tells(values: Sequence[object]) -> bool:
    """Whether values tell rows apart: no two are equal, and none is NULL."""
    there = all(v is not None and not (isinstance(v, tuple) and None in v) for v in values)
    return there and len(set(values)) == len(values)


def _read(cell: "exp.Expr", values: "exp.Expr") -> Scalar | None:
    from sqlglot import exp

    if isinstance(cell.unnest(), exp.Null):
        return None
    found = read_literal(cell)
    number = cell.find(exp.Literal)
    exact = number is None or number.is_string or "E" not in number.name.upper()
    if found is None or cell.find(exp.Cast) is not None or not exact:
        raise _refuse(values, f"of {show_sql(cell)}")
    written = "" if number is None or number.is_string else number.name
    return Decimal(f"-{written}" if cell.find(exp.Neg) else written) if "." in written else found


def _type(name: str, cells: Sequence[Scalar | None], values: "exp.Expr") -> Column:
    """The column of some constants."""
    there = [c for c in cells if c is not None]
    null = len(there) < len(cells)
    if there and all(isinstance(c, bool) for c in there):
        return Column(name, BooleanType(), nullable=null)
    if there and all(isinstance(c, str) for c in there):
        texts = tuple(dict.fromkeys(str(c) for c in there))
        return Column(name, StringType(), enum=texts, nullable=null)
    numbers = [Decimal(c) for c in there if type(c) in (int, Decimal)]
    if not numbers or len(numbers) != len(there):
        raise _refuse(values, f"whose column {name} has values of no type, or of two")
    least, most = min(numbers), max(numbers)
    if all(type(c) is int for c in there):
        if not -(2**63) <= least <= most < 2**63:
            raise _refuse(values, f"whose column {name} has numbers beyond 64 bits")
        return Column(name, IntType(), minimum=int(least), maximum=int(most), nullable=null)
    scale = max(-int(n.as_tuple().exponent) for n in numbers)
    digits = max(len(str(int(abs(n)))) for n in numbers) + scale
    if digits > _DIGITS:
        raise _refuse(values, f"whose column {name} has decimals of more than {_DIGITS} digits")
    return Column(name, DecimalType(digits, scale), minimum=least, maximum=most, nullable=null)


_DIGITS = 38


def _put(values: "exp.Expr", relation: Relation) -> None:
    """A relation in the place of VALUES, in place."""
    from sqlglot import exp

    table = exp.Table(this=exp.to_identifier(relation.name, quoted=True))
    alias = values.args.get("alias")
    if alias is not None and alias.name:
        table.set("alias", exp.TableAlias(this=alias.this.copy()))
    around = values.parent
    if isinstance(around, exp.In):
        of = f"{relation.name} rows"
        table.set("alias", exp.TableAlias(this=exp.to_identifier(of, quoted=True)))
        names = [exp.column(c.name, of, quoted=True) for c in relation.columns]
        value = around.this.unnest()
        if isinstance(value, exp.Tuple) and not isinstance(around.parent, exp.Not):
            sides = zip(names, value.expressions, strict=True)
            equal = [exp.EQ(this=n, expression=v.copy()) for n, v in sides]
            around.replace(exp.Exists(this=exp.select("1").from_(table).where(*equal)))
            return
        inner = exp.select(*names).from_(table)
        around.replace(exp.In(this=around.this.copy(), query=exp.Subquery(this=inner)))
    elif isinstance(around, exp.Subquery) and isinstance(around.parent, (exp.From, exp.Join)):
        if around.alias:
            table.set("alias", exp.TableAlias(this=around.args["alias"].this.copy()))
        around.replace(table)
    else:
        values.replace(table)


def _refuse(values: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(
        f"VALUES {what}",
        why="a relation of constants is a static relation, whose columns have names and types",
        fix=_FIX,
        line=line_of(values),
    )
