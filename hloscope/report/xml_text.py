"""Text that XML can hold."""

from __future__ import annotations

import re

# the characters that XML 1.0 forbids, escaped or not
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def allowed(text: str) -> str:
    """The text with a replacement character for each that XML forbids."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
