"""Metrics and health of a room, over HTTP on a thread of its own: `/metrics` and `/healthz`."""

import json
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app

REGISTRY = CollectorRegistry()

OUTCOMES = Counter(
    "annals_outcomes", "What became of the messages a room took.", ["room", "outcome"], registry=REGISTRY
)
APPENDED = Counter("annals_events_appended", "Events appended to the log.", ["room", "type"], registry=REGISTRY)
CONFLICTS = Counter(
    "annals_append_conflicts", "Appends decided again because the log had moved.", ["room"], registry=REGISTRY
)
UNKNOWN = Counter("annals_events_unknown", "Events of an unknown type or version.", ["room", "type"], registry=REGISTRY)
IN_HAND = Gauge("annals_in_hand", "Messages fetched and not yet acknowledged.", ["room"], registry=REGISTRY)
ASKS = Histogram(
    "annals_ask_seconds",
    "Time to answer a question, from its arrival.",
    ["question", "status"],
    registry=REGISTRY,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
DROPPED = Counter(
    "annals_asks_dropped",
    "Questions that were not answered: nobody listened any more, a newer one came, or too many waited.",
    ["question", "reason"],
    registry=REGISTRY,
)
PASSES = Counter("annals_passes", "Transform passes by kind.", ["kind"], registry=REGISTRY)
COMMITTED = Gauge("annals_views_committed_seq", "The log position committed to the views.", registry=REGISTRY)
RESETS = Counter("annals_projector_resets", "Times the projector went back to its checkpoint.", registry=REGISTRY)
POISON = Counter(
    "annals_projector_poison", "Records of the log the projector could not read and skipped.", registry=REGISTRY
)
UNFOLDED = Counter(
    "annals_facts_unfolded", "Facts that could not be folded into a state, and were passed over.", registry=REGISTRY
)

HISTORY = Counter(
    "annals_history_parts",
    "Parts of histories that were compressed, and runs that failed, by code.",
    ["outcome"],
    registry=REGISTRY,
)
MODEL_TOKENS = Counter(
    "annals_model_tokens", "Tokens of calls to models.", ["room", "model", "direction"], registry=REGISTRY
)
MODEL_USD = Counter("annals_model_usd", "US dollars of calls to models.", ["room", "model"], registry=REGISTRY)
MODEL_SECONDS = Histogram(
    "annals_model_seconds",
    "Time of one call to a model, or of the rules.",
    ["room", "model", "outcome"],
    registry=REGISTRY,
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600),
)

Health = Callable[[], dict[str, object]]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class _Server(ThreadingMixIn, WSGIServer):
    """A server whose requests do not wait for one another: a client that sends nothing delays no other."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    """A request handler that writes no line per request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write nothing."""


def serve(host: str, port: int, health: Health) -> tuple[WSGIServer, int]:
    """Serve both pages until the server is shut down; the port it really has."""
    metrics = make_wsgi_app(REGISTRY)

    def app(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/healthz":
            pages: Iterable[bytes] = metrics(environ, start_response)
            return pages
        report = health()
        status = "200 OK" if report.get("ok") else "503 Service Unavailable"
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps(report).encode()]

    server = make_server(host, port, app, server_class=_Server, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    return server, server.server_port
