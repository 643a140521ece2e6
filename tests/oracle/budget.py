"""How much of the profile's budget (conftest.py) a random test takes."""

from hypothesis import settings
from hypothesis import strategies as st

SEEDS = st.integers(min_value=0, max_value=(1 << 48) - 1)
"""Seeds of `random.Random`: cases are long, a shrunk seed says no more than the seed itself."""


def budget(share: float) -> settings:
    """A multiple of the profile's budget (ci: 12 examples, --long: 5,000), in ci two or more
    where the share is a twelfth: the first is the seed 0, in all tests the same."""
    profile = settings()
    examples = profile.max_examples * share
    if profile.derandomize:  # ci's, which are the same each time
        examples = max(examples * 0.3, min(examples * 0.6, 2))
    return settings(profile, max_examples=max(1, int(examples)))
