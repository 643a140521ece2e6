"""With what a replay recalls and keeps what is verified."""

from collections.abc import Mapping
from dataclasses import dataclass

from ontoweir.cache.open_cache import Cache
from ontoweir.runtime.verified.identify_streams import Identity


@dataclass(frozen=True, slots=True)
class Verification:
    """Where it is kept, and the identities of streams (identify_streams) from before anything of
    them, or of the relations that they reference, was read.

    `again`: nothing is recalled: everything is verified again, and kept.
    """

    cache: Cache
    known: Mapping[str, Identity]
    again: bool = False


WHAT = "verified"
"""How entries of the cache are called."""
