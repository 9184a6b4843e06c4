"""Results -> one row per method: how often it is right, how well it ranks, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unhorse.bench.metrics import auroc, mean
from unhorse.bench.protocol import own_score
from unhorse.bench.result import Result

COLUMNS = (
    "method",
    "scans",
    "accuracy",
    "found",
    "cleared",
    "AUROC",
    "own",
    "recovered",
    "s",
    "Mtok",
)


@dataclass(frozen=True)
class Row:
    """The figures of one method over some models.

    `accuracy` counts a trojaned model as right only when it is convicted, a clean one only
    when nothing was found. `own_auroc` ranks by what the method's source decides from.
    """

    method: str
    done: int
    planned: int
    accuracy: float
    found: float | None
    cleared: float | None
    auroc: float | None
    own_auroc: float | None
    recovered: float | None
    seconds: float
    megatokens: float

    def cells(self) -> list[str]:
        """The row for people."""

        def number(value: float | None) -> str:
            return "-" if value is None else f"{value:.2f}"

        return [
            self.method,
            f"{self.done} of {self.planned}",
            number(self.accuracy),
            number(self.found),
            number(self.cleared),
            number(self.auroc),
            number(self.own_auroc),
            number(self.recovered),
            f"{self.seconds:.0f}",
            f"{self.megatokens:.2f}",
        ]


def rows_of(results: Sequence[Result], planned: dict[str, int]) -> list[Row]:
    """One row for each method, in the order they were asked for."""
    return [
        _row(label, [r for r in results if r.label == label], count)
        for label, count in planned.items()
        if any(r.label == label for r in results)
    ]


def _row(label: str, results: Sequence[Result], planned: int) -> Row:
    bad = [r for r in results if r.model.poisoned]
    good = [r for r in results if not r.model.poisoned]
    return Row(
        method=label,
        done=len(results),
        planned=planned,
        accuracy=mean(r.is_right for r in results) or 0.0,
        found=mean(r.is_right for r in bad),
        cleared=mean(r.is_right for r in good),
        auroc=auroc([r.model.poisoned for r in results], [r.score for r in results]),
        own_auroc=auroc([r.model.poisoned for r in results], [own_score(r) for r in results]),
        recovered=mean(r.recovered for r in bad if r.recovered is not None),
        seconds=mean(r.seconds for r in results) or 0.0,
        megatokens=(mean(r.forward_tokens + r.backward_tokens for r in results) or 0.0) / 1e6,
    )


def markdown(rows: Sequence[Row], note: str = "") -> str:
    """The table as Markdown, with a note below it."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join([*lines, *(["", note] if note else [])]) + "\n"
