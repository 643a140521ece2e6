"""Make the next of some items in a thread while the one before it is used."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """The items, none of which is None, each made before it is asked for; two are held at most.

    Raises:
        whatever making an item raises, when it is its turn.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ontoweir-text") as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
