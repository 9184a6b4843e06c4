"""How much work a search may do, and how much it has done.

Work is counted in *token-passes*: every padded token that goes forward through a model is
one, every one that a gradient comes back through is one more. They are the same on every
machine, so methods can be compared at equal cost. Seconds can be given too.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from unhorse.errors import UsageError

NAMED = {"quick": 0.25, "standard": 1.0, "thorough": 4.0}
"""Budgets by name, as multiples of one run of plain DBS over the same arms."""

PLAIN_EPOCHS = 200
"""The epochs of that run, a forward and a backward pass each."""


class BudgetSpent(Exception):
    """The budget does not allow another pass; what was found so far stands."""


@dataclass(frozen=True)
class Budget:
    """What a user allows: a multiple of a plain run, token-passes, or seconds."""

    text: str
    times_plain: float | None = None
    tokens: int | None = None
    seconds: float | None = None


def parse_budget(text: str) -> Budget:
    """A budget as it is written on the command line.

    >>> parse_budget("quick").times_plain, parse_budget("90s").seconds
    (0.25, 90.0)
    >>> parse_budget("5e6tok").tokens, parse_budget("200000tok").tokens
    (5000000, 200000)
    """
    if text in NAMED:
        return Budget(text, times_plain=NAMED[text])
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)(s|tok)", text)
    amount = float(match[1]) if match else 0.0
    if match is None or not 0 < amount < float("inf"):
        known = ", ".join(NAMED)
        raise UsageError(f"The budget {text!r} is not one of {known}, <N>s or <N>tok.")
    if match[2] == "s":
        return Budget(text, seconds=amount)
    return Budget(text, tokens=max(1, round(amount)))


@dataclass
class Meter:
    """Work done so far, and the point at which no more is allowed.

    `most_tokens` bounds forward and backward token-passes together, `deadline` is a time
    of `time.monotonic`. Once lifted, a meter counts on and allows everything.
    """

    forward_tokens: int = 0
    backward_tokens: int = 0
    most_tokens: int | None = None
    deadline: float | None = None

    @property
    def tokens(self) -> int:
        """All token-passes."""
        return self.forward_tokens + self.backward_tokens

    @property
    def left(self) -> int | None:
        """Token-passes that are still allowed, where they are what is limited."""
        return None if self.most_tokens is None else max(0, self.most_tokens - self.tokens)

    @property
    def is_spent(self) -> bool:
        """Whether no other pass is allowed."""
        if self.most_tokens is not None and self.tokens >= self.most_tokens:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline

    def add(self, forward: int, backward: int) -> None:
        """Counts work that was done elsewhere."""
        self.forward_tokens += forward
        self.backward_tokens += backward

    def check(self) -> None:
        """Raises BudgetSpent when nothing is left."""
        if self.is_spent:
            raise BudgetSpent

    def allow(self, tokens: float, deadline: float | None = None) -> None:
        """So many token-passes more; with a deadline, as many as there is time for."""
        if deadline is None:
            self.most_tokens = self.tokens + round(tokens)
        self.deadline = deadline

    def lift(self) -> None:
        """Allows what is needed to bring in what was found."""
        self.most_tokens = self.deadline = None
