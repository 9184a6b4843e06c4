"""What a removal tells about itself while it runs; this one tells nobody."""

from __future__ import annotations

from unhorse.progress import ScanProgress


class RemovalProgress:
    """Hears of every stage; all of its methods do nothing."""

    def stage(self, name: str) -> None:
        """Something begins that may take a while."""

    def step(self, done: int, steps: int, loss: float) -> None:
        """One step of the teaching is done."""

    def scanning(self) -> ScanProgress:
        """A scan begins; what is returned is told how it goes."""
        return ScanProgress()

    def close(self) -> None:
        """Nothing more will be told."""
