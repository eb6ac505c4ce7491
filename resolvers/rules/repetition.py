"""When two texts are the same to those who get them unasked."""

import hashlib
import re
import unicodedata

SHORT = 20  # letters and digits: shorter texts, such as thanks and wishes, may be sent to anybody
_LEFT_OUT = re.compile(r"@\w*|[^\w@]+|_+")
_DIGEST_BYTES = 8


def fingerprint(text: str) -> str:
    """Return a digest of a text's letters and digits, without mentions and in one case; "" for a short text."""
    plain = _LEFT_OUT.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
    return hashlib.blake2b(plain.encode(), digest_size=_DIGEST_BYTES).hexdigest() if len(plain) >= SHORT else ""
