"""From a kernel's results to rows: terms rendered, one column per variable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.units import kind_of
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.algebra.equality_classes import Types, constant_type
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.windows.window import BEGINS, ENDS
from ontoweir.runtime.columnar.add_exact import add_exact, narrow
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.encode import unscale_floats
from ontoweir.runtime.columnar.exact_decimals import decode_decimals
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Array, Frame, first_of, group_codes
from ontoweir.runtime.columnar.write_texts import encode_texts, show_texts, write_texts
from ontoweir.runtime.nulls.code_null import code_null
from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_columns import CODE, code_schema, write_codes
from ontoweir.runtime.pool.text_table import TextTable

Template: TypeAlias = IriOutput | TemplateLiteralOutput | BlankOutput
"""A term that is made from a template."""

AT, UNTIL, MULTIPLICITY = "at", "until", "multiplicity"
INSTANT = pa.timestamp("us")
"""Points in time are UTC without a zone, as the sources have them."""


def has_end(schema: pa.Schema) -> bool:
    """Whether answers say until when they hold. A query's own column that is called so is no time,
    or one with a zone (result_type)."""
    return UNTIL in schema.names and schema.field(UNTIL).type == INSTANT


def result_schema(union: SpjUnion, catalog: Catalog) -> pa.Schema:
    """The columns of results: the variables, `at`, of windows `until`, and `multiplicity` for the
    bag semantics.

    A literal keeps its column's type, a number or a boolean that is a constant has its own; other
    terms, and variables that disjuncts make of different types, are strings.
    """
    fields = []
    for name in union.variables:
        if name in (*union.ends, *union.begins):
            continue
        kinds = set()
        for query in union.disjuncts:
            output = dict(query.outputs)[name]
            types = Types(catalog, query.occurrences)
            if isinstance(output, LiteralOutput | NullOutput):
                kinds.add(result_type(types.type_of(output.value)))
            elif isinstance(output, ConstantOutput):
                kinds.add(result_type(constant_type(output)))
            else:
                kinds.add(pa.string())
        fields.append(pa.field(name, _common_type(kinds)))
    fields.append(pa.field(AT, INSTANT))
    if union.ends:
        fields.append(pa.field(UNTIL, INSTANT))
    if not union.distinct:
        fields.append(pa.field(MULTIPLICITY, pa.int64()))
    return pa.schema(fields)


def _common_type(kinds: set[pa.DataType]) -> pa.DataType:
    """The type that all of a variable's values have; decimals of all sizes are one."""
    if len(kinds) > 1 and all(map(pa.types.is_decimal, kinds)):
        scale = max(k.scale for k in kinds)
        digits = max(k.precision - k.scale for k in kinds) + scale
        return pa.decimal128(digits, scale) if digits <= 38 else pa.string()
    return next(iter(kinds)) if len(kinds) == 1 else pa.string()


def result_type(kind: ColumnType) -> pa.DataType:
    """The Arrow type of results whose values are of a type."""
    if isinstance(kind, DecimalType):
        return pa.decimal128(max(kind.precision, 19), kind.scale)
    return arrow_type(kind)


def render_results(
    results: Frame,
    form: NormalForm,
    catalog: Catalog,
    schema: pa.Schema,
    pool: StringPool,
    step_us: int,
    texts: TextTable | None = None,
) -> pa.Table:
    """A plan's results as rows of `schema`; of `code_schema(schema)` where there are `texts`, whose
    codes then take the place of texts."""
    types = Types(catalog, form.query.occurrences)
    work = _Rendering(results, form, types, pool)
    outputs = dict(form.query.outputs)
    columns: dict[str, pa.Array] = {}
    schema = schema if texts is None else code_schema(schema)
    for entry in schema:
        if entry.name not in outputs:
            continue
        output = outputs[entry.name]
        if texts is not None and entry.type == CODE:
            columns[entry.name] = write_codes(work.code(output, texts))
        else:
            columns[entry.name] = _as(work.render(output).spread(), entry.type)
    micros = np.maximum(results[EVENT], -(1 << 62) // step_us) * step_us

    def render_times(prefix: str) -> list[pa.Array]:
        names = [name for name in outputs if name.startswith(prefix)]
        return [work.render(outputs[name]).spread().cast(INSTANT) for name in names]

    columns[AT] = pa.array(micros).view(INSTANT)
    if begins := render_times(BEGINS):
        columns[AT] = pc.max_element_wise(columns[AT], *begins)
    if has_end(schema) and UNTIL not in outputs:
        columns[UNTIL] = pc.min_element_wise(*render_times(ENDS))
    if MULTIPLICITY in schema.names:
        columns[MULTIPLICITY] = pa.array(results[WEIGHT])
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _as(column: "pa.Array", kind: pa.DataType) -> "pa.Array":
    if column.type == kind:
        return column
    return show_texts(column) if pa.types.is_string(kind) else column.cast(kind)


@dataclass(frozen=True, slots=True)
class _Terms:
    """A column of terms: some, and which of them each row has (None: each its own)."""

    terms: pa.Array
    place: Array | None = None

    def spread(self) -> "pa.Array":
        """The term of every row."""
        return self.terms if self.place is None else self.terms.take(pa.array(self.place))


@dataclass(frozen=True, slots=True)
class _Rendering:
    results: Frame
    form: NormalForm
    types: Types
    pool: StringPool

    def render(self, output: Output) -> _Terms:
        """A column of terms."""
        match output:
            case LiteralOutput(value=attribute):
                codes = self._shifted(attribute)
                null = self._where_null(attribute, codes)
                if null is None:
                    return _Terms(self._decode(codes, attribute))
                places = pa.array(np.cumsum(~null) - 1, mask=null)
                return _Terms(self._decode(codes[~null], attribute).take(places))
            case ConstantOutput(value=text):
                return _Terms(pa.array([text]), np.zeros(self.results.rows, dtype=np.int64))
            case NullOutput(value=attribute):
                kind = result_type(self.types.type_of(attribute))
                return _Terms(pa.nulls(self.results.rows, kind))
            case IriOutput() | TemplateLiteralOutput() | BlankOutput():
                return self._template(output)
            case _:
                assert_never(output)

    def code(self, output: Output, texts: TextTable) -> Array:
        """The codes that the texts of a column have among others; NULL has EMPTY."""
        match output:
            case LiteralOutput(value=attribute) if self._is_text(attribute):
                mine = self._shifted(attribute)
                null = self._where_null(attribute, mine)
                if null is None:
                    return self.pool.move(texts, mine)
                moved = np.full(len(mine), EMPTY, dtype=np.int64)
                moved[~null] = self.pool.move(texts, mine[~null])
                return moved
            case IriOutput() | TemplateLiteralOutput() | BlankOutput():
                used = _attributes_of(output)
                if len(used) == 1 and self._is_text(used[0]):
                    return self.pool.move(
                        texts,
                        self._shifted(used[0]),
                        output,
                        lambda t: self._join(output, {used[0]: t.cast(pa.string())}, len(t)),
                    )
            case LiteralOutput(value=attribute, optional=False) if self._is_decimal(attribute):
                units, inner = self._codes(attribute)
                return texts.add(show_texts(self._decode(units, attribute)))[inner]
            case LiteralOutput() | ConstantOutput() | NullOutput():
                pass
            case _:
                assert_never(output)
        column = self.render(output)
        codes = texts.add(show_texts(column.terms))
        return codes if column.place is None else codes[column.place]

    def _where_null(self, attribute: Attribute, codes: Array) -> Array | None:
        """Where an attribute is NULL (None: nowhere)."""
        group = self.form.classes[self.form.class_of[attribute]]
        if not group.optional:
            return None
        null: Array = codes == code_null(group, self.pool)
        return null if null.any() else None

    def _is_text(self, attribute: Attribute) -> bool:
        return isinstance(self.types.type_of(attribute), StringType)

    def _is_decimal(self, attribute: Attribute) -> bool:
        return isinstance(self.types.type_of(attribute), DecimalType)

    def _template(self, output: Template) -> _Terms:
        """Parts joined; of one attribute, each distinct value is rendered once."""
        coded = {a: self._codes(a) for a in _attributes_of(output)}
        values = {a: self._decode(codes, a) for a, (codes, _) in coded.items()}
        if len(coded) == 1:
            ((codes, place),) = coded.values()
            return _Terms(self._join(output, values, len(codes)), place)
        spread = {a: _Terms(values[a], place).spread() for a, (_, place) in coded.items()}
        return _Terms(self._join(output, spread, self.results.rows))

    def _join(
        self, output: Template, values: Mapping[Attribute, "pa.Array"], rows: int
    ) -> "pa.Array":
        """The texts of a template, of so many rows of values."""
        encoded = not isinstance(output, TemplateLiteralOutput)
        if isinstance(output, IriOutput) and len(output.parts) == 1:
            encoded = isinstance(output.parts[0], str)  # a value that is an IRI stands as it is
        pieces = [pa.repeat("_:", rows)] if isinstance(output, BlankOutput) else []
        for part in output.parts:
            if isinstance(part, str):
                pieces.append(pa.repeat(pa.scalar(part), rows))
                continue
            texts = write_texts(values[part])
            if encoded and not isinstance(self.types.type_of(part), IntType):
                texts = encode_texts(texts)
            pieces.append(texts)
        return pc.binary_join_element_wise(*pieces, "")

    def _codes(self, attribute: Attribute) -> tuple[Array, Array]:
        """The distinct values of an attribute in units, and which each row has."""
        column = self._shifted(attribute)
        codes, count = group_codes([column], len(column))
        return column[first_of(codes, count)], codes

    def _shifted(self, attribute: Attribute) -> Array:
        """An attribute's values in units."""
        index = self.form.class_of[attribute]
        shift = dict(self.form.classes[index].attributes)[attribute]
        column: Array = self.results[value(index)]
        return narrow(add_exact(column, shift), "a value of an answer")

    def _decode(self, codes: Array, attribute: Attribute) -> "pa.Array":
        """Values in units as Arrow values of the attribute's type."""
        return decode_units(codes, self.types.type_of(attribute), self.form, self.pool)


def decode_units(codes: Array, kind: ColumnType, form: NormalForm, pool: StringPool) -> "pa.Array":
    """Values of a type, in units of a plan, as Arrow values; `pool`: has the texts of codes."""
    unit = form.unit_of(kind_of(kind))
    if isinstance(kind, FloatType):
        return pa.array(unscale_floats(codes, unit))
    if codes.dtype != np.int64:
        codes = np.rint(codes).astype(np.int64)
    match kind:
        case IntType():
            return pa.array(codes if unit == 1 else codes // unit)
        case DecimalType(scale=scale):
            return decode_decimals(codes // (unit // 10**scale), result_type(kind))
        case StringType():
            return pool.take(codes).cast(pa.string())
        case BooleanType():
            return pa.array(codes.astype(np.bool_))
        case DateType():
            return pa.array(codes.astype(np.int32)).cast(pa.date32())
        case TimestampType():
            return pa.array(codes).view(INSTANT)
        case _:
            assert_never(kind)


def _attributes_of(output: Template) -> list[Attribute]:
    return list(dict.fromkeys(p for p in output.parts if isinstance(p, Attribute)))
