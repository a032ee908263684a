"""The estimate of what a text costs in a prompt, where no provider has counted."""

BYTES_PER_TOKEN = 4


def tokens(size: int) -> int:
    """Estimated tokens of so many UTF-8 bytes: about one per four, for code and English."""
    return -(-size // BYTES_PER_TOKEN)
