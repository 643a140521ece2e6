"""Tell a sink of the queries whose answers it will take."""

from ontoweir.errors import UsageError
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.sinks import Sink
from ontoweir.runtime.live.output.upserts.find_answer_key import find_answer_key
from ontoweir.runtime.packed.write_avro import require_names
from ontoweir.runtime.rdf.find_terms import RDF_FORMATS, require_terms


def bind_sink(sink: Sink, query: RunningQuery) -> None:
    """Tell a sink that replaces rows by key which columns a query's answers have as theirs.

    Raises:
        UsageError: the sink replaces rows, and these answers have no key; or it writes RDF, and
            they have terms of several kinds; or Avro, which does not have the name of a column; or
            the sink does not take them.
    """
    if isinstance(sink, FileSink):
        if sink.format in RDF_FORMATS:
            require_terms(query.terms, query.schema.names, sink.format)
        if sink.format == "avro":
            require_names(query.schema.names)
        return
    key = None if sink.keys is None else find_answer_key(query)
    if sink.keys is not None and key is None:
        raise UsageError(
            f"the answers of {query.name} have no key, by which the sink could replace them",
            why="groups have one: the columns of GROUP BY, if all of them are shown, as updates or "
            "changes; other answers stay beside one another",
            fix="select the columns of GROUP BY, or name another sink",
        )
    if sink.keys is not None and key is not None:
        sink.keys[query.name] = key
    sink.accept(query.name, query.schema.names)
