"""The greatest of numbers that were seen within a span of time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlidingMax:
    """`now`: the greatest in the half of a window that began at `begun_us`; `before`: in the half
    before it; `halves`: how many are over; `ever`: the greatest of all."""

    now: int = 0
    before: int = 0
    begun_us: int | None = None
    halves: int = 0
    ever: int = 0

    @property
    def most(self) -> int:
        """The greatest of a window, or of up to a half more."""
        return max(self.now, self.before)

    @property
    def full(self) -> bool:
        """Whether a whole window has been seen."""
        return self.halves >= 2

    def see(self, number: int, at_us: int, window_us: int) -> "SlidingMax":
        """With a number more, at a time that does not go back."""
        begun = at_us if self.begun_us is None else self.begun_us
        now, before, halves = self.now, self.before, self.halves
        passed = at_us - begun
        if 2 * passed >= window_us:
            before = now if passed < window_us else 0
            now, begun, halves = 0, at_us, halves + (1 if passed < window_us else 2)
        return SlidingMax(max(now, number), before, begun, halves, max(self.ever, number))
