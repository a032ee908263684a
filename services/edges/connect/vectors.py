"""Whether the model answers that makes vectors for search, as the doctor says it."""

from contextlib import AsyncExitStack

import msgspec

from schemas.asks import ProbeAsk, Probed
from schemas.codec import encode
from schemas.subjects import ask
from services.edges.connect.findings import Finding, doubtful, well
from services.edges.person import HARNESS, PERSON, admitted
from services.kit.bus import Unreachable
from services.settings import Settings

WHAT = "vectors"
PATIENCE, LOADING = 3.0, 15.0
WORDS = "search goes by words alone meanwhile"
REMEDIES = {
    "auth_failed": "set ANNALS_EMBED__KEY",
    "endpoint_unsupported": "ANNALS_EMBED__URL must be where `/embeddings` is, without that name",
    "invalid_scheme": "set ANNALS_EMBED__URL to where the model is",
    "no_model": "run `make setup` again, or set ANNALS_EMBED__PROVIDER=off",
    "network_error": "see that the model runs at ANNALS_EMBED__URL",
    "timeout": "see that the model runs at ANNALS_EMBED__URL",
    "http_error": "its own log lines say why",
}


async def judge_vectors(settings: Settings) -> list[Finding]:
    """No finding, where there is no broker to ask through: another check reports that."""
    async with AsyncExitStack() as stack:
        try:
            bus = await admitted(settings, "doctor", settings.nats.user, PERSON, HARNESS, wait=PATIENCE)
        except Unreachable:
            return []
        stack.push_async_callback(bus.close)
        try:
            reply = await bus.request(ask(ProbeAsk.NAME), encode(ProbeAsk()), LOADING)
        except Unreachable as error:
            return [doubtful(WHAT, f"the embedder does not answer ({error}); {WORDS}", "start the installation anew")]
        return [judged(msgspec.json.decode(reply, type=Probed))]


def judged(probed: Probed) -> Finding:
    """What the answer of a model says about it."""
    if probed.status == "ok":
        return well(WHAT, f"a model makes vectors of {probed.dimensions} dimensions")
    if probed.status == "off":
        return well(WHAT, "they are turned off: search goes by words alone")
    remedy = REMEDIES.get(probed.status, "the embedder's log lines say why")
    return doubtful(WHAT, f"the model does not answer as it should ({probed.reason}); {WORDS}", remedy)
