"""How late rows are put into order, as an earlier replay of the same files has found it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.lateness.find_disorder import Ordered, make_piece
from ontoweir.runtime.sources.history import Disorder, History, Piece
from ontoweir.runtime.times.late_rows import LateRows


def describe_order(history: History) -> Mapping[str, Any] | None:
    """What `recall_order` takes, as JSON; None: the stream of the history declares no lateness.

    Args:
        history: all of it, as open_history has made it.
    """
    if not history.stream.lateness_us:
        return None
    disorder = history.disorder
    groups = history.pieces if disorder is None else disorder.groups
    held: dict[str, Any] = {
        "groups": _name_groups(groups),
        "late": [history.late.needed_us, history.late.counts],
    }
    if disorder is not None:
        held["pieces"] = [[p.group, p.rows, p.low, p.high] for p in history.pieces]
        held["disorder"] = [disorder.reach, disorder.late, disorder.cuts, disorder.since]
    return held


def recall_order(
    held: Mapping[str, Any] | None, stream: Stream, groups: Sequence[Piece]
) -> Ordered | None:
    """What find_disorder finds of all of a history, without a look at its timestamps.

    Args:
        held: of a history of the same files and declarations (None: nothing is known).
        stream: with a lateness.
        groups: its row groups, in the order in which they came; None is returned if they are
            others.
    """
    if held is None or held["groups"] != _name_groups(groups):
        return None
    needed, counts = held["late"]
    late = LateRows(int(needed), tuple(map(int, counts)))
    if "disorder" not in held:
        return tuple(groups), None, late
    reach, has_late, cuts, since = (tuple(values) for values in held["disorder"])
    disorder = Disorder(tuple(groups), reach, has_late, cuts, since, stream.lateness_us)
    pieces: list[Piece] = []
    first = 1
    for group, rows, low, high in held["pieces"]:
        pieces.append(make_piece(groups[group], group, (first, rows), (low, high)))
        first += rows
    return tuple(pieces), disorder, late


def _name_groups(groups: Sequence[Piece]) -> list[list[Any]]:
    return [[p.shown, p.first, p.rows] for p in groups]
