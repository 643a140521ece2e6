"""What a query shows of the answers of its one block."""

from dataclasses import replace

from ontoweir.rewriter.algebra.equality_classes import (
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    LiteralOutput,
    NotNull,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


def find_reader(union: SpjUnion, block: Block) -> SpjQuery | None:
    """The one disjunct that reads the block's answers, whose conditions are about columns of theirs
    alone; without the outputs that are computed from other columns, such as its times: answers
    that differ in these are counted together. None: there is no such disjunct."""
    found = [q for q in union.disjuncts if any(o.table == block.stream.name for o in q.occurrences)]
    if len(found) != 1 or len(found[0].occurrences) != 1:
        return None
    query = found[0]
    known = {c.name for c in block.stream.columns}
    times = {c.name for name, c in union.buckets if name == block.stream.name}
    conditions = tuple(
        c for c in query.conditions if not (isinstance(c, NotNull) and c.attribute.column in times)
    )
    if not known.issuperset(a.column for c in conditions for a in condition_attributes(c)):
        return None
    outputs = tuple(
        (n, o) for n, o in query.outputs if known.issuperset(a.column for a in output_attributes(o))
    )
    return replace(query, conditions=conditions, outputs=outputs)


def open_answers(union: SpjUnion) -> SpjUnion | None:
    """The query over the rows that its block's answers are made of, as if all of these counted.
    None: it shows answers of others too, or what is not known of the rows."""
    block = union.blocks[0]
    reader = find_reader(union, block)
    if reader is None or len(union.disjuncts) > 1:
        return None
    if union.distinct and len(reader.outputs) < len(union.variables):
        return None  # a set shows those that differ in what is left out
    if block.union.distinct and not union.distinct:
        return None
    disjuncts = []
    for query in block.union.disjuncts:
        values = {n: o.value for n, o in query.outputs if isinstance(o, LiteralOutput)}
        needed = [a for c in reader.conditions for a in condition_attributes(c)]
        needed += [a for _, o in reader.outputs for a in output_attributes(o)]
        if not values.keys() >= {a.column for a in needed}:
            return None

        def change(attribute: Attribute, values: dict[str, Attribute] = values) -> Attribute:
            return values[attribute.column]

        conditions = (*query.conditions, *(map_condition(c, change) for c in reader.conditions))
        outputs = tuple((n, map_output(o, change)) for n, o in reader.outputs)
        disjuncts.append(
            replace(query, conditions=tuple(dict.fromkeys(conditions)), outputs=outputs)
        )
    return replace(
        block.union,
        name=union.name,
        variables=tuple(n for n, _ in reader.outputs),
        disjuncts=tuple(disjuncts),
        distinct=union.distinct,
    )
