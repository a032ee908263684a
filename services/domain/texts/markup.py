"""Elements around texts: nothing that a text says can end its element or begin another one."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from services.domain.texts.clean import ELEMENTS, OWN_ELEMENT

_IN_ATTRIBUTES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;"}
"""Escaped in addition to the usual characters. `quoteattr` chooses its quotes by the value; here all are double."""


_SPEAKING = (
    *ELEMENTS, OWN_ELEMENT, "system", "system_prompt", "instructions", "important", "assistant", "human",
    "session-history", "history", "memories",
)  # fmt: skip
"""Elements in which harnesses, models' makers and this service speak to an agent."""
_SPEAKS = re.compile(rf"<(?=\s{{0,9}}/?\s{{0,9}}(?:{'|'.join(map(re.escape, _SPEAKING))})(?![\w-]))", re.IGNORECASE)


def escaped(text: str) -> str:
    """A text as content."""
    return escape(text)


def defused(text: str) -> str:
    """A text that is repeated word for word, but for elements in which somebody would speak to the agent.

    These become what they are here: a quotation. All other markup, such as that of code, stays as it was.
    """
    return _SPEAKS.sub("&lt;", text)


def element(name: str, content: str, /, **attributes: str) -> str:
    """An element on lines of its own; `content` is escaped already. Without content there is none."""
    if not content:
        return ""
    given = "".join(f' {key}="{escape(value, _IN_ATTRIBUTES)}"' for key, value in attributes.items())
    return f"<{name}{given}>\n{content}\n</{name}>"


def stacked(parts: Iterable[str]) -> str:
    """Texts below each other with an empty line between them; empty ones take no room."""
    return "\n\n".join(part for part in parts if part)
