"""Rows that several kinds of later rows end, by keys that differ: one key for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ontoweir.rewriter.algebra.equality_classes import condition_attributes, map_condition
from ontoweir.rewriter.model.spj import Attribute, Compare, NotNull, Occurrence, Op, SpjQuery
from ontoweir.rewriter.standing.read_hit import Hit, show_key


def widen_keys(
    rows: Sequence[SpjQuery],
    ended: Sequence[Mapping[int, Hit]],
    enders: Sequence[SpjQuery],
    stamps: Mapping[str, str],
) -> tuple[list[dict[int, Hit]], list[SpjQuery]] | None:
    """What ends rows, by all columns by which any of it does: what lacks some of these ends the
    rows of all keys of static relations, beside which the rows are, that agree with its own.

    Args:
        rows: the queries of the rows.
        ended: of each, what ends it, by the number of its query.
        enders: these queries.
        stamps: of every stream, its timestamp.

    Returns:
        The same, with one key for each query of rows; None where a column of a key that something
        lacks is equal to none of a static relation, so that its values are not known.
    """
    made, numbers = list[dict[int, Hit]](), dict[SpjQuery, int]()
    for row, of in zip(rows, ended, strict=True):
        key = tuple(sorted({a for hit in of.values() for a in hit.own}))
        wide = dict[int, Hit]()
        for number, hit in of.items():
            ender = enders[number]
            if set(hit.own) != {*key}:
                widened = _widen(row, hit.own, key, ender, stamps)
                if widened is None:
                    return None
                ender = widened
            wide[numbers.setdefault(ender, len(numbers))] = replace(hit, own=key, ender=ender)
        made.append(wide)
    return made, list(numbers)


def _widen(
    row: SpjQuery,
    own: Sequence[Attribute],
    key: Sequence[Attribute],
    ender: SpjQuery,
    stamps: Mapping[str, str],
) -> SpjQuery | None:
    """What ends rows, beside the static relations of these: by the whole key."""
    statics = {o.alias: f"beside {o.alias}" for o in row.occurrences if o.table not in stamps}

    def move(attribute: Attribute) -> Attribute:
        return Attribute(statics[attribute.alias], attribute.column)

    known = [c for c in row.conditions if {a.alias for a in condition_attributes(c)} <= {*statics}]
    conditions = [replace(map_condition(c, move), source=None) for c in known]
    ends = dict(zip(own, (_column(ender, n) for n in range(len(own))), strict=True))
    for mine, theirs in ends.items():
        conditions += [Compare(move(a), Op.EQ, theirs) for a in _equal(row, mine, statics)]
    shown = list[Attribute]()
    for attribute in key:
        if attribute not in ends:
            equal = _equal(row, attribute, statics)
            if not equal:
                return None
            conditions.append(NotNull(move(equal[0])))
            shown.append(move(equal[0]))
        else:
            shown.append(ends[attribute])
    beside = (Occurrence(statics[o.alias], o.table) for o in row.occurrences if o.alias in statics)
    return SpjQuery(
        (*ender.occurrences, *beside),
        tuple(dict.fromkeys((*ender.conditions, *conditions))),
        show_key(shown),
    )


def _column(ender: SpjQuery, number: int) -> Attribute:
    """A column of the key of what ends rows."""
    value = getattr(ender.outputs[number][1], "value", None)
    assert isinstance(value, Attribute)
    return value


def _equal(row: SpjQuery, attribute: Attribute, statics: Mapping[str, str]) -> list[Attribute]:
    """The columns of static relations that are equal to one of a row."""
    found = {attribute} if attribute.alias in statics else set[Attribute]()
    for c in row.conditions:
        if isinstance(c, Compare) and isinstance(c.right, Attribute):
            sides = {c.left, c.right}
            if c.op is Op.EQ and not c.offset and attribute in sides:
                found |= {a for a in sides if a.alias in statics}
    return sorted(found)
