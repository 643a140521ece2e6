"""Read the columns of a table of the catalog: types, domains, resolutions."""

from decimal import Decimal

from ontoweir.errors import with_article
from ontoweir.mappings.model.catalog import (
    Column,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
)
from ontoweir.mappings.model.column_types import (
    KNOWN_TYPES,
    is_value,
    name_column_type,
    parse_column_type,
    parse_constant,
    type_family,
)
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean

FEW_DIGITS = 6
"""A decimal of at most so many digits is a range: two million values, which memory may hold."""


def read_columns(table: TomlTable) -> tuple[Column, ...]:
    """The columns of a stream or relation, in the order in which they are written.

    Raises:
        CatalogError: one is not declared as columns are; with its line.
    """
    table.need("columns", '{ id = "int" }')
    columns = table.table("columns")
    return tuple(read_column(columns, name) for name in columns.values)


def read_column(columns: TomlTable, name: str) -> Column:
    """A column: its type, and the domain enforced on its rows.

    Raises:
        CatalogError: it has no type that is known, or a domain that is none; with its line.
    """
    value = columns.values[name]
    table = columns
    options = TomlTable({}, (*columns.path, name), columns.lines)
    if isinstance(value, dict):
        table = options = columns.table(name)
        options.refuse_unknown(("type", "min", "max", "enum", "from", "nullable"))
        options.need("type", '"int"')
    spelled = options.text("type") if isinstance(value, dict) else columns.text(name)
    kind = parse_column_type(spelled or "")
    if kind is None:
        raise table.error(
            "type" if isinstance(value, dict) else name,
            f"column {name!r} has the unknown type {spelled!r}",
            why=f"known types are {', '.join(KNOWN_TYPES)}",
            fix=did_you_mean(spelled or "", [*KNOWN_TYPES[:4], "decimal(10,2)", *KNOWN_TYPES[5:]]),
        )
    low = _bound(options, "min", kind_name=spelled or "")
    high = _bound(options, "max", kind_name=spelled or "")
    if low is not None and high is not None and type_family(kind) == "number":
        if isinstance(low, str) or isinstance(high, str):
            raise options.wrong("min", "a number")
        if low > high:
            raise options.error(
                "max",
                f"column {name!r} has min {low} above max {high}",
                why="no value lies between them",
                fix="exchange them",
            )
    low, high = _span_digits(kind, low, high)
    enum: tuple[Scalar, ...] | None = None
    if "enum" in options.values:
        enum = tuple(_constant(options, "enum", v, spelled or "") for v in options.items("enum"))
        if not enum:
            raise options.wrong("enum", "a list with at least one value")
    path = options.text("from")
    place = options.lines.place(*options.path)
    nullable = isinstance(value, dict) and options.flag("nullable")
    return Column(name, kind, low, high, enum, place, path=path, nullable=nullable)


def _span_digits(
    kind: ColumnType, low: Scalar | None, high: Scalar | None
) -> tuple[Scalar | None, Scalar | None]:
    """A range, with the ends that the digits of a decimal set where it has few of them: rows with
    more are rejected, so that `decimal(4,1)` is declared to lie between -999.9 and 999.9."""
    if not isinstance(kind, DecimalType) or kind.precision > FEW_DIGITS:
        return low, high
    most = Decimal(10**kind.precision - 1).scaleb(-kind.scale)
    return -most if low is None else low, most if high is None else high


def _bound(options: TomlTable, key: str, *, kind_name: str) -> Scalar | None:
    value = options.values.get(key)
    if value is None:
        return None
    kind = parse_column_type(kind_name)
    if kind is not None and type_family(kind) in ("string", "boolean"):
        raise options.error(
            key,
            f"{options.name(key)} bounds {with_article(kind_name)} column",
            why="min and max bound numbers, dates and timestamps only",
            fix="declare an enum instead",
        )
    return _constant(options, key, value, kind_name)


def _constant(options: TomlTable, key: str, value: object, kind_name: str) -> Scalar:
    """A constant of the column's type: no silent conversion from another family."""
    kind = parse_column_type(kind_name)
    if kind is None:
        raise options.wrong(key, "a constant")
    family = type_family(kind)
    constant: Scalar | None = None
    if family == "boolean" and isinstance(value, bool):
        constant = value
    elif family == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        constant = parse_constant(str(value), kind)
        if isinstance(kind, IntType) and (constant is None or not is_value(constant, kind)):
            constant = None
        if isinstance(kind, FloatType) and constant is not None:
            constant = float(constant)
    elif family == "string" and isinstance(value, str):
        constant = value
    elif family in ("date", "timestamp") and not isinstance(value, (bool, int, float, list, dict)):
        constant = parse_constant(str(value), kind)
    if constant is None:
        raise options.error(
            key,
            f"{options.name(key)} has {value!r}",
            why=f"the column is {name_column_type(kind)}",
            fix=f"write constants of type {name_column_type(kind)}",
        )
    return constant
