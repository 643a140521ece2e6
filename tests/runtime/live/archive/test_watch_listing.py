"""Too much listing is said once, with what mends it."""

from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.archive.watch_listing import LOOK, ListingWatch
from ontoweir.runtime.live.stage_clock import StageClock

PLAIN = Stream("s", DataSource("csv", "/in/s"), "ts", 1, None, (), (), ())
KEPT = Stream("t", DataSource("csv", "/in/t", archive="/old/t"), "ts", 1, None, (), (), ())


def test_listing_that_takes_its_share() -> None:
    watch = ListingWatch(0.0)
    counts = {"s": 40_000, "t": 90_000}
    assert watch.look(LOOK - 1, 50.0, counts, [PLAIN]) is None  # it is not looked at yet
    assert watch.look(LOOK, 0.1 * LOOK, counts, [PLAIN]) is None
    said = watch.look(2 * LOOK, 0.4 * LOOK, counts, [PLAIN, KEPT])
    assert said is not None
    assert "for 30% of the time, of s some 40,000 files" in said
    assert "archive = " in said
    assert watch.look(3 * LOOK, 0.8 * LOOK, counts, [PLAIN, KEPT]) is None  # not twice as much
    assert watch.look(4 * LOOK, 1.5 * LOOK, counts, [PLAIN, KEPT]) is not None


def test_files_that_are_moved_away_anyway() -> None:
    assert ListingWatch(0.0).look(LOOK, LOOK, {"t": 90_000}, [KEPT]) is None


def test_what_was_listed_before_is_not_of_the_run() -> None:
    clock = StageClock()
    for total in (7.0, 7.5, 9.0):
        clock.note_listing(total)
    with clock.time("read"):
        pass
    assert clock.seconds["list"] == 2.0
