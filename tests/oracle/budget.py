"""How much of the profile's budget (conftest.py) a random test takes."""

from hypothesis import settings
from hypothesis import strategies as st

SEEDS = st.integers(min_value=0, max_value=(1 << 48) - 1)
"""Seeds of `random.Random`: cases are long, a shrunk seed says no more than the seed itself."""


def budget(share: float) -> settings:
    """A multiple of the profile's budget (ci: 24 examples, --long: 5,000)."""
    profile = settings()  # of --long, which draws anew each time, all are taken
    examples = profile.max_examples * (0.6 if profile.derandomize else 1)
    return settings(profile, max_examples=max(1, int(examples * share)))
