"""Elements around texts: nothing that a text says can end its element or begin another one."""

from collections.abc import Iterable

_ATTRIBUTE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;"}
)


def escaped(text: str) -> str:
    """A text as content."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # ten times as fast as a table


def element(name: str, content: str, /, **attributes: str) -> str:
    """An element on lines of its own; `content` is escaped already. Without content there is none."""
    if not content:
        return ""
    given = "".join(f' {key}="{value.translate(_ATTRIBUTE)}"' for key, value in attributes.items())
    return f"<{name}{given}>\n{content}\n</{name}>"


def stacked(parts: Iterable[str]) -> str:
    """Texts below each other with an empty line between them; empty ones take no room."""
    return "\n\n".join(part for part in parts if part)
