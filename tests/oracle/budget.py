"""How much of the profile's budget (conftest.py) a random test takes."""

import os

from hypothesis import settings
from hypothesis import strategies as st

SEEDS = st.integers(min_value=0, max_value=(1 << 48) - 1)
"""Seeds of `random.Random`: cases are long, a shrunk seed says no more than the seed itself."""


_TUPLES = "ONTOWEIR_TUPLES"


def count_tuples() -> int:
    """How many optional tuples the counterexamples of random tests have: all subsets of them are
    asked for, so that one more takes twice as long (`tests.oracle.run_seeds --tuples`)."""
    return int(os.environ.get(_TUPLES, "3"))


def set_tuples(number: int) -> None:
    """From now on they have so many."""
    os.environ[_TUPLES] = str(number)


def budget(share: float) -> settings:
    """A multiple of the profile's budget (ci: 24 examples, --long: 5,000)."""
    profile = settings()  # of --long, which draws anew each time, all are taken
    examples = profile.max_examples * (0.6 if profile.derandomize else 1)
    return settings(profile, max_examples=max(1, int(examples * share)))
