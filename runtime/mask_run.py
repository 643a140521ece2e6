"""Take a run's secrets out of messages."""

from ontoweir.runtime.live_job import LiveJob
from ontoweir.runtime.mask_secrets import mask_secrets, resolve_options
from ontoweir.runtime.publish_batch import KafkaSink, Sink


def mask_run(text: str, job: LiveJob, sink: Sink | None) -> str:
    """A message without the secrets of the sources and the sink."""
    for history in job.histories:
        text = mask_secrets(text, resolve_options(dict(history.stream.data.options)))
    return mask_secrets(text, sink.options) if isinstance(sink, KafkaSink) else text
