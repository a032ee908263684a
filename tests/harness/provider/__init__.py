"""A model provider that says what a test wants, minds the rules of the real ones, and remembers what it was sent."""

from tests.harness.provider.refusals import OVERFLOWS, Refusal, overflow, overloaded, rate_limited, server_error
from tests.harness.provider.rules import Rules
from tests.harness.provider.script import Answer, Call, Reply, Script
from tests.harness.provider.server import Provider
from tests.harness.provider.wire import Request, Usage, prefix_break

__all__ = [
    "OVERFLOWS",
    "Answer",
    "Call",
    "Provider",
    "Refusal",
    "Reply",
    "Request",
    "Rules",
    "Script",
    "Usage",
    "overflow",
    "overloaded",
    "prefix_break",
    "rate_limited",
    "server_error",
]
