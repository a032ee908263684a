"""Whether an error says that a prompt was too long, in the words of each provider."""

import re

_WORDINGS = (
    r"prompt is too long",
    r"input is too long for requested model",
    r"exceeds? the context window",
    r"input token count.*exceeds the maximum",
    r"maximum prompt length is \d+",
    r"reduce the length of the messages",
    r"maximum context length is \d+",
    r"exceeds the limit of \d+",
    r"exceeds the available context size",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"context[_ ]length[_ ]exceeded",
    r"request entity too large",
    r"context length is only \d+",
    r"input length.*exceeds.*context length",
    r"prompt too long; exceeded (?:max )?context length",
    r"too large for model with \d+ maximum context length",
    r"model_context_window_exceeded",
    r"context size has been exceeded",
    r"\b413\b.*\b(?:entity|payload|context|prompt)",
    r"\b(?:entity|payload|context|prompt)\b.*\b413\b",
)
_OVERFLOW = re.compile("|".join(_WORDINGS), re.IGNORECASE | re.DOTALL)


def is_overflow(text: str) -> bool:
    return _OVERFLOW.search(text) is not None
