"""The one time-out of the tests, and how they wait for another thread or process."""

from collections.abc import Callable
from threading import Event

HANG_TIMEOUT = 1200.0
"""Seconds after which a test counts as hung: many times what a loaded machine takes for any test.

pytest ends each test by it (conftest.py), so what a test calls needs a time-out of its own only
where it has another one by default.
"""


def wait_until(reached: Callable[[], bool], alive: Callable[[], bool] = lambda: True) -> None:
    """Return as soon as something is so, which another thread or process brings about.

    Raises:
        AssertionError: the other one has ended before.
    """
    while not reached():
        assert alive() or reached(), "it has ended, and this has not come about"
        Event().wait(0.05)
