"""What a scan tells about itself while it runs; this one tells nobody.

The command line shows it on a terminal; a program may derive its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unhorse.types import Inversion, Runtime, Subject


@dataclass(frozen=True)
class Announcement:
    """What is known just before the optimisation starts."""

    subject: Subject
    arms: Sequence[str]
    starved: Sequence[str]
    screened: Sequence[str]
    schedule: str
    passes: Sequence[tuple[str, int]]
    runtime: Runtime
    budget: str
    expected_seconds: Sequence[float]
    expected_bytes: int


class ScanProgress:
    """Hears of every stage; all of its methods do nothing."""

    def loading(self) -> None:
        """The model and the samples are being loaded."""

    def distilling(self, done: int, steps: int, loss: float) -> None:
        """One step is done of teaching a reference that is made from the model."""

    def agreeing(self, done: int, steps: int, loss: float) -> None:
        """One step is done of teaching clean models what the model says of ordinary text."""

    def announce(self, announcement: Announcement) -> None:
        """The optimisation is about to start."""

    def inverting(self, preset: str, arm_epochs: int) -> None:
        """A pass of the optimisation starts; all arms together get about so many epochs."""

    def epoch(self, done: int, loss: list[float], temperature: list[float]) -> None:
        """So many epochs of single arms are done; these values are the last of every arm."""

    def judging(self, inversions: Sequence[Inversion]) -> Iterable[Inversion]:
        """Hands out the inversions to judge, one after another."""
        return inversions

    def close(self) -> None:
        """Nothing more will be told."""
