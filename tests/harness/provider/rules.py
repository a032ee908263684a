"""Whether a request may be answered: what the providers refuse, in their words."""

import msgspec

from tests.harness.provider import rules_anthropic, rules_openai
from tests.harness.provider.content import Format
from tests.harness.provider.thinking import KEY
from tests.harness.provider.wire import decode


class Rules(msgspec.Struct, frozen=True):
    """What this provider minds beyond what all of its kind do. The last two are for OpenAI's format."""

    key: bytes = KEY
    """Signs thinking."""
    binds_thinking: bool = True
    """Whether signed thinking of the running turn may only stand behind what it was thought behind."""
    preserves_thinking: bool = False
    """Whether that holds for thinking of turns that are over, too."""
    requires_reasoning_on_tool_calls: bool = False
    refuses_empty_content: bool = False


def faults(form: Format, raw: bytes, rules: Rules) -> tuple[str, ...]:
    """Every rule that this request breaks, the gravest first."""
    body = decode(raw)
    if not body:
        return ("We could not parse the JSON body of your request: send one JSON object.",)
    if form == "anthropic":
        bound, preserved = rules.binds_thinking, rules.preserves_thinking
        return tuple(rules_anthropic.faults(body, rules.key, binds_thinking=bound, preserves_thinking=preserved))
    return tuple(
        rules_openai.faults(
            body,
            requires_reasoning=rules.requires_reasoning_on_tool_calls,
            refuses_empty=rules.refuses_empty_content,
        )
    )
