"""The greatest, or least, of structs, of which one field is asked: the last, or first, value."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def read_struct_choices(tree: "exp.Query") -> None:
    """`MAX(STRUCT(ts, x)).x`, as Spark SQL has it, as `LAST(x ORDER BY ts)`; MIN as FIRST; of the
    first field, MAX or MIN of it; in place.

    Structs are compared by their fields in order. LAST and FIRST are read where a key says that
    there is one row of a group at a time, so that no later field decides.
    """
    from sqlglot import exp

    for node in list(tree.find_all(exp.Dot)):
        call = node.this.unnest()
        struct = call.this if isinstance(call, exp.Max | exp.Min) else None
        if not isinstance(struct, exp.Struct) or not isinstance(node.expression, exp.Identifier):
            continue
        fields = [f for f in struct.expressions if isinstance(f, exp.PropertyEQ)]
        named = {f.this.name.lower(): f.expression for f in fields}
        asked = named.get(node.expression.name.lower())
        if len(named) < len(struct.expressions) or asked is None:
            continue
        first = fields[0].expression
        made: exp.Expr = type(call)(this=first.copy())
        if asked is not first:
            by = exp.Ordered(this=first.copy(), nulls_first=True)
            order = exp.Order(this=asked.copy(), expressions=[by])
            made = exp.Last(this=order) if isinstance(call, exp.Max) else exp.First(this=order)
        if isinstance(node.parent, exp.Select):
            made = exp.alias_(made, node.expression.name, quoted=True)
        node.replace(made)
