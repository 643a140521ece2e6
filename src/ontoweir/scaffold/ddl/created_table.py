"""What a CREATE TABLE says of its columns, keys, references and domains."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Scalar,
    StringType,
    TimestampType,
)
from ontoweir.scaffold.ddl.read_flink import FlinkTable
from ontoweir.scaffold.flatten_rows import make_name

_TIMES = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME", "DATETIME64")
_TYPES: dict[str, ColumnType] = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "UINT"), IntType()),
    **dict.fromkeys(("SERIAL", "BIGSERIAL", "SMALLSERIAL", "UBIGINT", "USMALLINT"), IntType()),
    **dict.fromkeys(("DOUBLE", "FLOAT"), FloatType()),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "UUID"), StringType()),
    **dict.fromkeys(_TIMES, TimestampType()),
    "BOOLEAN": BooleanType(),
    "DATE": DateType(),
}


class CreatedTable:
    """What a CREATE TABLE declares; `flink`: what is only Flink's of it; `enums`: types that list
    their values; `more`: its constraints and keys that other statements add; `full`: the columns
    that have a value in each row."""

    def __init__(
        self,
        created: exp.Create,
        flink: FlinkTable | None = None,
        enums: Mapping[str, tuple[str, ...]] | None = None,
        more: Sequence[exp.Expr] = (),
    ) -> None:
        self.flink = flink
        schema = created.this
        self.name = make_name(schema.this.name)
        self._keys: list[tuple[str, ...]] = []
        self._references: list[Reference] = []
        self.full: set[str] = set()
        columns: dict[str, Column] = {}
        self.left_out = [] if flink is None else [*flink.left_out]
        for part in _flat([*schema.expressions, *more]):
            if isinstance(part, exp.ColumnDef):
                kind = part.args.get("kind")
                values = _list_values(kind, enums or {})
                made = StringType() if values else _column_type(kind)
                if made is None:
                    self.left_out.append(part.name)
                    continue
                columns[part.name] = Column(part.name, made, enum=values or None)
                for constraint in part.args.get("constraints") or ():
                    self._constrain(constraint.args.get("kind"), (part.name,), columns)
            else:
                self._constrain(part, (), columns)
        self.columns = tuple(columns.values())
        named = set(columns)
        self.keys = tuple(dict.fromkeys(k for k in self._keys if k and set(k) <= named))
        self.references = tuple(r for r in self._references if set(r.columns) <= named)

    def _constrain(self, part: object, column: tuple[str, ...], columns: dict[str, Column]) -> None:
        match part:
            case exp.PrimaryKeyColumnConstraint():
                self._keys.append(column)
                self.full |= {*column}
            case exp.PrimaryKey():
                self._keys.append(tuple(e.name for e in part.expressions))
                self.full |= {e.name for e in part.expressions}
            case exp.NotNullColumnConstraint() if not part.args.get("allow_null"):
                self.full |= {*column}
            case exp.UniqueColumnConstraint():
                inner = part.this
                unique = column if inner is None else tuple(e.name for e in inner.expressions)
                self._keys.append(unique)
            case exp.Index():
                parts = part.args["params"].args.get("columns") or ()
                if not part.args["params"].args.get("where"):
                    self._keys.append(tuple(e.this.name for e in parts))
            case exp.Reference():
                self._references.append(_refer(column, part))
            case exp.ForeignKey():
                own = tuple(e.name for e in part.expressions)
                self._references.append(_refer(own, part.args["reference"]))
            case exp.CheckColumnConstraint():
                _check(part.this, columns)
            case _:
                pass


def list_created(statements: Sequence[exp.Expr | None]) -> list[CreatedTable]:
    """The tables that statements create, with what later ones add: ALTER TABLE … ADD CONSTRAINT,
    as dumps have it, CREATE UNIQUE INDEX, and types that are an ENUM."""
    enums: dict[str, tuple[str, ...]] = {}
    added: dict[str, list[exp.Expr]] = {}
    created = []
    for one in statements:
        match one:
            case exp.Create(this=exp.Schema()):
                created.append(one)
            case exp.Create() if one.args.get("kind") == "TYPE":
                enums[one.this.name] = _list_values(one.expression, {})
            case exp.Create(this=exp.Index() as index) if one.args.get("unique"):
                added.setdefault(index.args["table"].name, []).append(index)
            case exp.Alter():
                adds = (a for a in one.args["actions"] if isinstance(a, exp.AddConstraint))
                added.setdefault(one.this.name, []).extend(p for a in adds for p in a.expressions)
            case _:
                pass
    return [CreatedTable(c, None, enums, added.get(c.this.this.name, ())) for c in created]


def _list_values(kind: object, enums: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The values of a type that lists them (empty: it is no such type)."""
    if not isinstance(kind, exp.DataType):
        return ()
    if kind.this == exp.DataType.Type.ENUM:
        return tuple(str(e.this) for e in kind.expressions if isinstance(e, exp.Literal))
    named = kind.args.get("kind")
    return enums.get(named.name, ()) if isinstance(named, exp.Expr) else ()


def _flat(parts: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """Parts of a table, those of named constraints too."""
    for part in parts:
        if isinstance(part, exp.Constraint):
            yield from part.expressions
        else:
            yield part


def _refer(columns: tuple[str, ...], to: exp.Expr) -> Reference:
    target = to.this
    if isinstance(target, exp.Schema):
        names = tuple(e.name for e in target.expressions)
        return Reference(columns, make_name(target.this.name), names)
    return Reference(columns, make_name(target.name), ())


def _check(condition: exp.Expr, columns: dict[str, Column]) -> None:
    """The domain that a CHECK of one column gives it; other conditions say nothing."""
    condition = _bare(condition)
    for one in condition.flatten() if isinstance(condition, exp.And) else (condition,):
        part = _bare(one)
        named = _bare(part.this) if isinstance(part.this, exp.Expr) else None
        column = columns.get(named.name) if isinstance(named, exp.Column) else None
        if column is None:
            continue
        match part:
            case exp.In() if part.expressions:
                column = _limit(column, part.expressions)
            case exp.EQ(expression=exp.Any()):
                listed = _bare(part.expression.this)
                if isinstance(listed, exp.Array):  # as PostgreSQL writes IN
                    column = _limit(column, listed.expressions)
            case exp.Between():
                low, high = _constant(part.args["low"]), _constant(part.args["high"])
                column = _bound(_bound(column, low, least=True), high, least=False)
            case exp.GTE():
                column = _bound(column, _constant(part.expression), least=True)
            case exp.LTE():
                column = _bound(column, _constant(part.expression), least=False)
            case _:
                pass
        columns[column.name] = column


def _bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses and casts to texts, as dumps have them."""
    while isinstance(node, exp.Paren | exp.Cast):
        if isinstance(node, exp.Cast) and not node.to.is_type("TEXT", "VARCHAR", "ARRAY<TEXT>"):
            break
        node = node.this
    return node


def _limit(column: Column, listed: Sequence[exp.Expr]) -> Column:
    """A column of texts, with all the values that it may have."""
    values = [_constant(e) for e in listed]
    if not isinstance(column.type, StringType) or not all(isinstance(v, str) for v in values):
        return column
    return replace(column, enum=tuple(str(v) for v in values))


def _bound(column: Column, value: Scalar | None, *, least: bool) -> Column:
    if not isinstance(value, int) or not isinstance(column.type, IntType | DecimalType):
        return column
    return replace(column, minimum=value) if least else replace(column, maximum=value)


def _constant(node: exp.Expr) -> Scalar | None:
    node = _bare(node)
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.NUMERIC_TYPES):
        inner = _constant(node.this)  # as in dumps: (0)::numeric, '-9'::integer
        return int(str(inner)) if re.fullmatch("-?[0-9]+", str(inner)) else None
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return -inner if isinstance(inner, int) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    return int(node.this) if str(node.this).isdecimal() else None


def _column_type(kind: object) -> ColumnType | None:
    """The type of ours (None: there is none)."""
    if not isinstance(kind, exp.DataType):
        return None
    name = str(kind.this.value if hasattr(kind.this, "value") else kind.this).upper()
    if name == "DECIMAL":
        sizes = [int(p.name) for p in kind.expressions]
        if not sizes:
            return FloatType()
        return DecimalType(sizes[0], sizes[1] if len(sizes) > 1 else 0)
    return _TYPES.get(name)
