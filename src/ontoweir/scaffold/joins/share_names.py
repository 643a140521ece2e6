"""Give columns of several streams that seem to name the same things one name for them."""

from collections.abc import Iterator, Mapping, Sequence

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.scaffold.joins.find_same import Same
from ontoweir.scaffold.terms.describe_stream import Subject, describe_stream
from ontoweir.scaffold.terms.terms import Shared, entity_name, entity_path

_Place = tuple[str, str]


def share_names(found: Sequence[Same], catalog: Catalog) -> dict[_Place, Shared]:
    """By stream and column, what the things that it names are called: as in the stream, of those
    that are joined, whose rows are about them, and the one whose things a table knows first.

    Args:
        found: the columns.
        catalog: the tables.
    """
    about = {name: describe_stream(s, catalog) for name, s in catalog.streams.items()}
    made: dict[_Place, Shared] = {}
    for group in _group(found):
        ends = [place for same in group for place in (_place(same, "many"), _place(same, "few"))]
        named = [about[n] for n, column in dict.fromkeys(ends) if about[n].entity == column]
        tables = {subject.relation for subject in named} - {None}
        if len(tables) > 1 or not named:  # of what two tables know, neither is the other
            continue
        first = next((s for s in named if s.relation is not None), named[0])
        because = _tell(group)
        for place in dict.fromkeys(ends):
            made[place] = _share(first, because[place])
    return made


def _share(subject: Subject, because: str) -> Shared:
    return Shared(entity_path(subject), entity_name(subject), because)


def _place(same: Same, end: str) -> _Place:
    stream, column = same.many if end == "many" else same.few
    return stream.name, column.name


def _tell(group: Sequence[Same]) -> Mapping[_Place, str]:
    """By stream and column the evidence, that of the first pair that it is in."""
    told: dict[_Place, str] = {}
    for same in group:
        for end in ("few", "many"):
            told.setdefault(_place(same, end), same.because)
    return told


def _group(found: Sequence[Same]) -> Iterator[list[Same]]:
    """The pairs that hang together."""
    left = list(found)
    while left:
        group = [left.pop(0)]
        known = {_place(group[0], "few"), _place(group[0], "many")}
        while True:
            more, others = list[Same](), list[Same]()
            for same in left:
                hangs = _place(same, "few") in known or _place(same, "many") in known
                (more if hangs else others).append(same)
            if not more:
                break
            group += more
            known |= {_place(s, end) for s in more for end in ("few", "many")}
            left = others
        yield group
