"""What every subscription can say: that something was lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class StreamGap:
    """Events were lost; the subscriber refetches and goes on from here."""

    cursor: str
    at: datetime
