"""Texts of others in a prompt, fenced so that nothing in them can end the place where they are."""

from hashlib import sha256


def fenced(name: str, text: str) -> str:
    """Between two lines with a digest of the text, which no text can hold itself: nothing in it can end it."""
    mark = f"{name}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:32]}"
    return f"<{mark}>\n{text}\n</{mark}>"
