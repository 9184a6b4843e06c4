"""Untrusted text made harmless before a person sees it.

Tokens of a hostile vocabulary, label names and file contents may carry terminal
escapes, marks that reorder text, or console markup. They are shown as escapes,
never obeyed.
"""

from __future__ import annotations

import unicodedata

from rich.text import Text

_SHOWN_AS_ESCAPE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def safe_text(text: str, limit: int = 400) -> str:
    """The text with every control, format, bidi and unassigned character escaped.

    >>> print(safe_text("a\\x1b[31mb\\u202ec"))
    a\\x1b[31mb\\u202ec
    >>> safe_text("x" * 5, limit=3)
    'xxx...'
    """
    cut = text if len(text) <= limit else text[:limit] + "..."
    return "".join(_escape(char) for char in cut)


def plain(text: str, style: str = "", limit: int = 400) -> Text:
    """The text for the terminal: escaped, and with no meaning as console markup."""
    return Text(safe_text(text, limit), style=style)


def _escape(char: str) -> str:
    if unicodedata.category(char) not in _SHOWN_AS_ESCAPE:
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
