"""Which commit of unhorse is at work, where it runs from a checkout."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


@cache
def commit_of_package() -> str | None:
    """The short commit, with a + if the package was changed since; None outside a checkout."""
    # An installed copy may lie within somebody else's checkout.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit, changes = _git("rev-parse", "--short=12", "HEAD"), _git("status", "--porcelain", ".")
    return commit and commit + ("+" if changes else "")


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words], cwd=PACKAGE, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
