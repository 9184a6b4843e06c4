"""Hostile text is shown, never obeyed."""

import io

import pytest
from rich.console import Console

from unhorse.report.safe_text import plain, safe_text

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\u202etxet desrever",
    "a\u2066b\u2069",
    "bell\x07 back\x08space",
    "line\nbreak\rreturn",
    "zero\u200bwidth\ufeff",
    "\U000e0041tag",
    "\x9b31m",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_active_is_left(text):
    shown = safe_text(text)
    assert all(char.isprintable() for char in shown)
    assert shown != text


def test_ordinary_text_is_left_alone():
    assert safe_text("naïve café — 日本 😀") == "naïve café — 日本 😀"


def test_markup_means_nothing():
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard").print(plain("[bold]x[/bold]"))
    assert "[bold]x[/bold]" in out.getvalue()
