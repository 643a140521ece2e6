"""Why the rows of an assertion make no triple twice: keys that its terms determine."""

from collections.abc import Iterable

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    Occurrence,
    Op,
    output_attributes,
)
from ontoweir.rewriter.tmappings.instantiate_assertion import Instance


def find_key(made: Instance, catalog: Catalog) -> tuple[str, ...] | None:
    """The keys by which the terms (and the time) of a triple determine the row of every table.

    Returns:
        for each occurrence its key as text, `readings (id, t)`; None: nothing declared says that
        rows do not repeat.
    """
    types = Types(catalog, made.occurrences)
    known = {
        attribute
        for output in (made.subject, made.object)
        if output is not None and is_injective(output, types)
        for attribute in output_attributes(output)
    }
    if made.time is not None:
        known.add(made.time)
    return determine_rows(made.occurrences, made.conditions, known, catalog)


def determine_rows(
    occurrences: Iterable[Occurrence],
    conditions: Iterable[Condition],
    known: set[Attribute],
    catalog: Catalog,
) -> tuple[str, ...] | None:
    """The keys by which `known` attributes, none of them NULL, determine the row of every
    occurrence (None: they do not): by equalities, constants and keys, again and again."""
    known = set(known)
    equal = [c for c in conditions if isinstance(c, Compare) and c.op is Op.EQ]
    known |= {c.left for c in equal if isinstance(c.right, Constant)}
    waiting = {o.alias: o for o in occurrences}
    keys: list[str] = []
    before = -1
    while waiting and before != len(known) + len(keys):
        before = len(known) + len(keys)
        for c in equal:
            if isinstance(c.right, Attribute) and (c.left in known or c.right in known):
                known |= {c.left, c.right}
        for alias, occurrence in list(waiting.items()):
            table = catalog.table(occurrence.table)
            for key in table.keys:
                if all(Attribute(alias, column) in known for column in key):
                    columns = (*(c.name for c in table.columns), *key)
                    known |= {Attribute(alias, column) for column in columns}
                    keys.append(f"{table.name} ({', '.join(key)})")
                    del waiting[alias]
                    break
    return None if waiting else tuple(dict.fromkeys(keys))
