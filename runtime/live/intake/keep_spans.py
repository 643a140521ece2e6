"""The spans that lanes take in, each opened once for all lanes that are equally far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ontoweir.runtime.live.arrivals.read_stream import is_listed
from ontoweir.runtime.live.intake.model import IntakeOptions, Lane, Reach, ReachKey
from ontoweir.runtime.live.intake.open_span import (
    OpenSpan,
    SpanContext,
    limit_reach,
    limit_topics,
    open_span,
)
from ontoweir.runtime.live.topics.topic_span import Handed
from ontoweir.runtime.sources.history import History


def list_topics(lanes: Sequence[Lane]) -> dict[str, dict[str, History]]:
    """What lanes read of streams of Kafka's, by stream and sign_history."""
    found: dict[str, dict[str, History]] = {}
    for lane in lanes:
        for history in lane.histories:
            name = history.stream.name
            if not is_listed(history.stream):
                found.setdefault(name, {})[lane.reads[name]] = history
    return found


@dataclass(slots=True)
class SpanKeeper:
    """`open`: the spans that are being taken in; `opened`: how many have been; `handed`: what Spark
    hands over in this micro-batch (None: it has no topics, or there is none)."""

    options: IntakeOptions
    open: dict[tuple[ReachKey, ReachKey], OpenSpan] = field(default_factory=dict)
    opened: int = 0
    handed: Handed | None = None

    def aim(self, lanes: Sequence[Lane], reach: Reach, context: SpanContext) -> Reach:
        """Up to where lanes that are equally far take arrivals in at once."""
        if lanes[0].at.batch >= max(0, reach.batch - 1):
            return reach
        to = limit_reach(lanes, reach, context, self.options.text)
        return limit_topics(lanes, to, context)

    def take(
        self,
        lanes: Sequence[Lane],
        to: Reach,
        rows: int,
        context: SpanContext,
        everyone: Sequence[Lane],
    ) -> OpenSpan:
        """The arrivals of a span, opened for all lanes.

        Args:
            lanes: those that are advanced, all equally far.
            to: up to where.
            rows: about how many a step takes in.
            context: what opening takes.
            everyone: all lanes that do not wait: those as far are about to take it in as well.
        """
        key = (lanes[0].at.key, to.key)
        wanted = {read for lane in lanes for read in lane.reads.values()}
        known = self.open.get(key)
        if known is not None and wanted <= known.keys:
            return known
        if known is not None:
            known.close()
        self.opened += 1
        staged = self.options.folder / "staged" / str(self.opened)
        at = lanes[0].at
        together = [
            lane for lane in everyone if lane.at == at and (lane.span is None or lane.span.to == to)
        ]
        step = (rows, self.options.step[1])
        self.open[key] = open_span(together, to, context, staged, step)
        return self.open[key]

    def forget_unused(self, lanes: Sequence[Lane]) -> None:
        """Close the spans that no lane is taking in."""
        used = {(x.at.key, x.span.to.key) for x in lanes if x.span is not None}
        for key in self.open.keys() - used:
            self.open.pop(key).close()

    def close(self) -> None:
        """Close all."""
        for span in self.open.values():
            span.close()
