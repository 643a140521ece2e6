"""Take a run's secrets out of messages."""

from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.output.sinks.sinks import Sink
from ontoweir.runtime.spark.redact_secrets import redact_secrets, resolve_options


def redact_run(text: str, job: LiveJob, sink: Sink | None) -> str:
    """A message without the secrets of the sources and the sink."""
    for history in job.histories:
        text = redact_secrets(text, resolve_options(dict(history.stream.data.options)))
    return text if sink is None else sink.redact(text)
