"""The models that a profile was learnt from, and whether a scan is like theirs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from unhorse.judge.circumstances import Circumstances

SLACK = 1.25
"""A usual length or a number of samples may be this many times beyond what was calibrated on."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Range(_Frozen):
    """From the lowest to the highest that was seen."""

    lowest: float
    highest: float


class Population(_Frozen):
    """The models that a profile was learnt from, and the samples of their scans.

    `architectures` and `victims` are told but not asked for: what a label is called, and
    which of the kindred architectures reads the text, is no reason to doubt a score.
    """

    architectures: tuple[str, ...]
    layers: Range | None
    labels: Range
    words: Range
    used: Range
    heldout: Range
    victims: tuple[str, ...]
    positions: tuple[str, ...]
    own_texts: bool = False
    """Whether the samples were unhorse's own."""
    distilled: bool = False
    """Whether the references were made from the models themselves."""


def outside(of: Population, version: str, now: Circumstances) -> tuple[str, ...]:
    """What of a scan is not as in a population, in words; empty if nothing.

    Args:
        of: what a profile was learnt from.
        version: that of the method it was learnt with.
        now: under what the scan was made.
    """
    ranges = (
        ("layers", now.layers, of.layers, _within(now.layers, of.layers)),
        ("labels", now.labels, of.labels, _within(now.labels, of.labels)),
        ("words in a sample", now.words, of.words, _within(now.words, of.words, SLACK)),
        # More samples than were calibrated on never make the evidence less sure.
        ("samples", now.used, of.used, now.used * SLACK >= of.used.lowest),
        ("held-out samples", now.heldout, of.heldout, now.heldout * SLACK >= of.heldout.lowest),
    )
    strange = sorted(now.positions - set(of.positions))
    made = f"a reference that was {'distilled' if now.distilled else 'given'}"
    texts = "unhorse's own texts" if now.own_texts else "samples that were given"
    return (
        *(["other settings of the method"] if version != now.version else []),
        *(
            f"{_number(value)} {what}{_seen(seen)}"
            for what, value, seen, fits in ranges
            if not fits
        ),
        *([texts] if now.own_texts != of.own_texts else []),
        *([made] if now.distilled != of.distilled else []),
        *([f"triggers at {', '.join(strange)}"] if strange else []),
    )


def _within(value: float | None, seen: Range | None, slack: float = 1.0) -> bool:
    if value is None or seen is None:
        return value is None and seen is None
    return seen.lowest / slack <= value <= seen.highest * slack


def _seen(seen: Range | None) -> str:
    """The range for people.

    >>> _seen(Range(lowest=2, highest=2)), _seen(Range(lowest=3, highest=6.25))
    (' (2 calibrated)', ' (3 to 6.25 calibrated)')
    """
    if seen is None:
        return ""
    low, high = _number(seen.lowest), _number(seen.highest)
    return f" ({low} calibrated)" if low == high else f" ({low} to {high} calibrated)"


def _number(value: float | None) -> str:
    return "an unknown number of" if value is None else f"{value:.3g}"
