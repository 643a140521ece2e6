"""Prints an SPJ query in relational algebra."""

from typing import assert_never

from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    OneOf,
    Output,
    SpjQuery,
    TemplateLiteralOutput,
)

SHOWN_AXIOMS = 3
"""Of more axioms the first so many are shown."""


def print_spj(query: SpjQuery, *, distinct: bool = False) -> str:
    """Algebra text; π̇ keeps duplicates, π (`distinct`) removes them. Times are in steps.

    >>> from ontoweir.rewriter.model.spj import Occurrence
    >>> a = Attribute("r", "x")
    >>> print_spj(SpjQuery((Occurrence("r", "R"),), (NotNull(a),), (("v", LiteralOutput(a)),)))
    'π̇_{v: r.x}(σ_{r.x IS NOT NULL}(R r))'
    """
    tables = " × ".join(
        o.table if o.table == o.alias else f"{o.table} {o.alias}" for o in query.occurrences
    )
    body = tables or "{()}"
    if query.conditions:
        body = f"σ_{{{' ∧ '.join(map(show_condition, query.conditions))}}}({body})"
    outputs = ", ".join(f"{name}: {show_output(o)}" for name, o in query.outputs)
    return f"{'π' if distinct else 'π̇'}_{{{outputs}}}({body})"


def show_condition(condition: Condition) -> str:
    """A condition; an offset is added to the right side."""
    match condition:
        case IsNull(attribute=attribute):
            return f"{attribute} IS NULL"
        case NotNull(attribute=attribute):
            return f"{attribute} IS NOT NULL"
        case OneOf(attribute=attribute, values=values):
            listed = (repr(v) if isinstance(v, str) else str(v) for v in values)
            return f"{attribute} IN ({', '.join(listed)})"
        case Compare(right=Constant(value=value)):
            shown = repr(value) if isinstance(value, str) else str(value)
            return f"{condition.left} {condition.op.value} {shown}"
        case Compare(offset=offset):
            sign = "" if not offset else f" {'+' if offset > 0 else '-'} {abs(offset)}"
            return f"{condition.left} {condition.op.value} {condition.right}{sign}"
        case _ as unreachable:
            assert_never(unreachable)


def show_output(output: Output) -> str:
    """An output: attributes in braces inside IRIs."""
    match output:
        case LiteralOutput(value=value):
            return str(value)
        case IriOutput(parts=parts):
            return f"<{_show_parts(parts)}>"
        case TemplateLiteralOutput(parts=parts):
            return f'"{_show_parts(parts)}"'
        case BlankOutput(parts=parts):
            return f"_:{_show_parts(parts)}"
        case ConstantOutput(value=text, is_iri=is_iri):
            return f"<{text}>" if is_iri else f'"{text}"'
        case NullOutput():
            return "NULL"
        case _ as unreachable:
            assert_never(unreachable)


def _show_parts(parts: tuple[str | Attribute, ...]) -> str:
    return "".join(p if isinstance(p, str) else f"{{{p}}}" for p in parts)


def first_axioms(axioms: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of axioms; of many the first, and how many there are more."""
    if len(axioms) <= SHOWN_AXIOMS + 1:
        return axioms
    return (*axioms[:SHOWN_AXIOMS], f"{len(axioms) - SHOWN_AXIOMS:,} more axioms")
