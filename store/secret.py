"""Text that must never be shown or logged: passwords, their hashes, and tokens."""

import hmac

HIDDEN = "**********"


class Secret:
    """A text that `repr`, `str`, formatting and logging never show. Only `reveal` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text. It must not be put into a message."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret('{HIDDEN}')"

    def __str__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        ours, theirs = (one.reveal().encode("utf-8", "surrogatepass") for one in (self, other))
        return hmac.compare_digest(ours, theirs)

    def __hash__(self) -> int:
        return hash(self._text)
