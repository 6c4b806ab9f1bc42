"""Quoted strings of HLO text."""

from __future__ import annotations

import re

# absl::CEscape: what has a letter, everything else outside printable ASCII as three octal digits
_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
_PLAIN = re.compile(r"[ !#-&(-\[\]-~]*")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def quote(text: str | bytes) -> str:
    """`text` between double quotes, escaped as XLA's printer does."""
    if isinstance(text, str) and _PLAIN.fullmatch(text):
        return f'"{text}"'
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return f'"{"".join(_escaped(byte) for byte in data)}"'


def _escaped(byte: int) -> str:
    char = chr(byte)
    if char in _LETTERS:
        return _LETTERS[char]
    return char if 32 <= byte < 127 else f"\\{byte:03o}"


def unquote(text: str) -> str:
    """The string inside the quotes of `text`; what is not UTF-8 comes back as surrogates."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    data = _ESCAPE.sub(_unescaped, inner)
    return (
        data.encode("latin-1", "surrogateescape").decode("utf-8", "surrogateescape")
        if (_is_bytes(data))
        else data
    )


def _is_bytes(text: str) -> bool:
    return not text.isascii() and all(ord(c) < 256 for c in text)


def _unescaped(match: re.Match[str]) -> str:
    octal, hexadecimal, char = match.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    return _NAMED.get(char, char)
