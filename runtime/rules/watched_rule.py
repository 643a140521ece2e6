"""The rules on how rows come that a run watches."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ontoweir.mappings.model.catalog import Breach, Catalog, ClosingRule, Lag
from ontoweir.mappings.model.parse_duration import show_duration

FOR_EVER = 1 << 62
"""How long a value is remembered without a limit, in µs."""


class RuleKind(StrEnum):
    """What says that a value is closed, or that it comes out of order."""

    GAP = "gap"
    """So long has passed since its last row."""
    ROWS = "rows"
    """More rows than that have come in steps between its last row and the next."""
    SPAN = "span"
    """So long has passed since the first row with it."""
    END = "end"
    """A row has said that it is the last one; without a column for it, each does."""
    SLACK = "slack"
    """A value greater by more than that has come."""
    ORDER = "order"
    """More rows than that have come in later steps than a greater value."""


@dataclass(frozen=True, slots=True)
class WatchedRule:
    """A rule of a stream's rows.

    `span`: in µs, or a number of rows, or of values; `ends`: the column in which the last row of a
    value says so; `behind`: the stream whose rows a value is counted from, and its columns (None:
    the rows of the stream itself); `keep_us`: how long after what says that a value is closed it is
    remembered; `reject`: whether rows that break the rule are rejected, or counted; `limited`:
    whether it is declared how many values are remembered.
    """

    stream: str
    columns: tuple[str, ...]
    kind: RuleKind
    span: int
    ends: str | None
    behind: tuple[str, tuple[str, ...]] | None
    keep_us: int
    reject: bool
    limited: bool

    @property
    def reason(self) -> str:
        """Why rows are wrong."""
        names = ", ".join(self.columns)
        if self.behind is not None:
            within = show_duration(self.span)
            return f"more than {within} after a row of {self.behind[0]} with the same {names}"
        match self.kind:
            case RuleKind.GAP:
                return (
                    f"more than {show_duration(self.span)} after the last row with the same {names}"
                )
            case RuleKind.ROWS:
                return f"more than {self.span} rows after the last row with the same {names}"
            case RuleKind.SPAN:
                span = show_duration(self.span)
                return f"more than {span} after the first row with the same {names}"
            case RuleKind.SLACK:
                return f"with {names} more than {self.span} less than the greatest before"
            case RuleKind.ORDER:
                return f"more than {self.span} rows after a greater {names}"
            case RuleKind.END:
                said = "" if self.ends is None else f" in which {self.ends} is true"
                return f"after a row with the same {names}{said}"

    @property
    def name(self) -> str:
        """What its rows do, as why they are rejected."""
        return f"{self.stream} comes {self.reason}"

    @property
    def read(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The columns that are looked at, by stream."""
        own = self.columns if self.ends is None else (*self.columns, self.ends)
        return ((self.stream, own),) if self.behind is None else ((self.stream, own), self.behind)


def list_watched(
    catalog: Catalog, streams: Collection[str], *, whole: bool
) -> tuple[WatchedRule, ...]:
    """The rules of streams whose `on_violation` is declared: those of a stream, where it is read;
    those between two, where both are.

    Args:
        catalog: the declarations.
        streams: the streams that are read.
        whole: it is a history, in which all rows that break a rule are counted, so that all values
            are remembered; else a rule that only counts, and declares no limit, is left out.
    """
    return tuple(_list(catalog, streams, whole))


def _list(catalog: Catalog, streams: Collection[str], whole: bool) -> Iterator[WatchedRule]:
    for name in sorted(streams):
        stream = catalog.streams[name]
        for lag in stream.lags:
            if lag.breach is not None and not lag.breach.spill and lag.behind in streams:
                yield from _watch(describe_rule(name, lag), lag.breach, whole)
                if lag.one:
                    yield from _watch(describe_one(name, lag), lag.breach, whole)
        for rule in stream.closing:
            if rule.breach is not None:
                yield from _watch(describe_rule(name, rule), rule.breach, whole)


def _watch(made: WatchedRule, breach: Breach, whole: bool) -> Iterator[WatchedRule]:
    limited = breach.remember_us is not None or breach.values is not None
    counts = whole and not breach.reject
    if not limited and not counts:
        return
    keep = FOR_EVER
    if breach.remember_us is not None and not counts:
        keep = breach.remember_us + (0 if made.kind is RuleKind.ROWS else made.span)
    # an order needs the greatest values alone
    limited = limited and not (counts and breach.values is None)
    yield replace(made, keep_us=keep, reject=breach.reject, limited=limited)


def watch_closing(rule: ClosingRule) -> WatchedRule:
    """A rule of a stream without a name, of which all that breaks it is counted."""
    return describe_rule("", rule)


def describe_one(stream: str, lag: Lag) -> WatchedRule:
    """That no two rows of a stream agree on the columns of a lag (`matches = "one"`), of which
    nothing is rejected."""
    return WatchedRule(
        stream, lag.columns, RuleKind.END, 0, None, None, FOR_EVER, reject=False, limited=False
    )


def describe_rule(stream: str, rule: Lag | ClosingRule) -> WatchedRule:
    """A rule of a stream, of which nothing is rejected."""
    ends = behind = None
    if isinstance(rule, Lag):
        kind, span = RuleKind.SPAN, rule.within_us
        if rule.behind != stream or rule.columns != rule.to:
            behind = rule.behind, rule.to
    elif rule.gap_us is not None:
        kind, span = RuleKind.GAP, rule.gap_us
    elif rule.rows is not None:
        kind, span = RuleKind.ROWS, rule.rows
    elif rule.slack is not None:
        kind, span = RuleKind.SLACK, rule.slack
    elif rule.late_rows is not None:
        kind, span = RuleKind.ORDER, rule.late_rows
    else:
        kind, span, ends = RuleKind.END, 0, rule.ends
    return WatchedRule(
        stream, rule.columns, kind, span, ends, behind, FOR_EVER, reject=False, limited=False
    )
