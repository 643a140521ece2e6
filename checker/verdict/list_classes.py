"""The classes that bounded verdicts, and the queries that they are on, are made of."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum

from ontoweir import diagnostics, errors
from ontoweir.checker.model import criterion, declarations, difference_bounds, normal_form, plan
from ontoweir.checker.partition import partition
from ontoweir.checker.split import split_aggregates
from ontoweir.checker.verdict import verdict
from ontoweir.mappings.model import (
    assertion,
    catalog,
    expression,
    preceding,
    sliding_buckets,
    time_bucket,
)
from ontoweir.rewriter.model import aggregation, joined, spj

_MODULES = (
    *(errors, diagnostics, spj, aggregation, joined, catalog, preceding, expression),
    *(time_bucket, sliding_buckets, assertion, plan, normal_form, criterion, declarations),
    *(difference_bounds, partition, split_aggregates, verdict),
)


def list_classes() -> Iterator[type]:
    """Dataclasses, enumerations and named tuples; `DifferenceBounds`, which is none, is not among
    them."""
    for module in _MODULES:
        for made in vars(module).values():
            if not isinstance(made, type) or made.__module__ != module.__name__:
                continue
            if is_dataclass(made) or issubclass(made, (Enum, tuple)):
                yield made
