"""Whether an error says that thinking was refused which came back to its provider, in the words of each provider.

Not so where thinking is missed: to leave out more of it would not help.
"""

import re

from services.tagger.core.overflow import MAX_CHARACTERS, texts_of

_WORDINGS = (
    r"(?:invalid|corrupted|bad)\W{0,3}signature\W{1,3}(?:in|for|on|of)\W{1,3}(?:the |a )?\W{0,2}(?:redacted_)?thinking",
    r"invalid\W{0,3}data\W{1,3}in\W{1,3}redacted_thinking",
    r"(?:redacted_)?thinking\W{1,3}blocks? in the latest assistant message cannot be modified",
    r"block is bound to a(?:nother| different) (?:conversation|account|organization|model)",
    r"thinking\W{1,3}(?:block )?signature (?:is (?:not valid|invalid)|verification failed|could not be verified)",
    r"invalid_encrypted_content",
    r"encrypted content\b.{0,400}\bcould not be (?:verified|decrypted)",
)
_refused = re.compile("|".join(_WORDINGS), re.IGNORECASE | re.DOTALL)


def is_refused(text: str) -> bool:
    """Whether the signature, the seal or the place of thinking was refused."""
    return _refused.search("\n".join(texts_of(text))[:MAX_CHARACTERS]) is not None
