"""Elements around texts: nothing that a text says can end its element or begin another one."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

_IN_ATTRIBUTES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;"}
"""Beside what is escaped everywhere. `quoteattr` would pick its quotes by the value; here they are always double."""


def escaped(text: str) -> str:
    """A text as content."""
    return escape(text)


def element(name: str, content: str, /, **attributes: str) -> str:
    """An element on lines of its own; `content` is escaped already. Without content there is none."""
    if not content:
        return ""
    given = "".join(f' {key}="{escape(value, _IN_ATTRIBUTES)}"' for key, value in attributes.items())
    return f"<{name}{given}>\n{content}\n</{name}>"


def stacked(parts: Iterable[str]) -> str:
    """Texts below each other with an empty line between them; empty ones take no room."""
    return "\n\n".join(part for part in parts if part)
