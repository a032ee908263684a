"""The policy for candidates, by their trust: the defaults, and what a person has set."""

from collections.abc import Mapping

DEFAULTS = {
    "person": "applied",
    "person_by_harness": "applied",
    "agent": "applied",
    "historian": "applied",
    "summary": "held",
    "dreamer": "held",
    "tool_output": "held",
}
FIXED = "tool_output"
"""The trust of texts from the output of a tool, which can be anybody's words: they wait for a person, whatever is
set."""


def action_for(policy: Mapping[str, str], trust: str) -> str:
    """The action for a candidate that has passed the gate: `applied`, `held` or `refused`."""
    if trust == FIXED:
        return DEFAULTS[FIXED]
    return policy.get(trust) or DEFAULTS.get(trust, "held")
