"""The numbers of a finding that a decision is made from.

A scan has them from its findings, a calibration from stored results; both decide from
this record alone, so that the two cannot drift apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from unhorse.load.divide import MINIMUM_HELDOUT
from unhorse.types import Finding


class Measured(Protocol):
    """What a text does, as a scan measures it and as a report keeps it."""

    @property
    def loss(self) -> float | None:
        """Mean loss; no number if there was nothing to measure."""

    @property
    def asr(self) -> float:
        """Share of samples that go to the target."""

    @property
    def n(self) -> int:
        """How many samples."""

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share."""

    @property
    def asr_unrestricted(self) -> float:
        """The same over all samples."""


class MeasuredAlone(Protocol):
    """What the strongest word of a trigger does by itself, to the subject and to clean models."""

    @property
    def heldout(self) -> Measured:
        """To held-out samples in the subject."""

    @property
    def references(self) -> Sequence[Measured]:
        """To the same in every clean model."""

    @property
    def push(self) -> float | None:
        """How far it takes the subject to the target, as a share of the way."""

    @property
    def references_push(self) -> Sequence[float]:
        """How far it takes every clean model."""

    @property
    def references_kin_push(self) -> Sequence[float]:
        """How far the third strongest of its nearest words takes every clean model."""


@dataclass(frozen=True)
class Clues:
    """What one pruned trigger does to held-out samples, and what its controls do.

    `low` is the lower end of the interval of `asr`. `natural` are the ordinary words;
    `reference` is that of the clean model that is moved most. None is what there is not.
    `whole_loss` is that of the trigger as it was found, before it was pruned, on the samples it
    was sought on or on the held-out ones, whichever is higher. `turned_loss` is that of what the
    search finds in a clean model that has changed places with the subject, in as few tokens.
    `alone` is the lower end of what the trigger's strongest word does by itself, `alone_reference`
    what it does to the clean model that it moves most; `push` and `push_reference` are the shares
    of the way to the target that it takes them, and `push_kin` that which the third strongest of
    the words nearest to it takes a clean model.
    """

    arm: str
    tokens: int
    asr: float
    low: float
    n: int
    loss: float | None
    random: float
    unstamped: float
    natural: float | None = None
    reference: float | None = None
    whole_loss: float | None = None
    turned_loss: float | None = None
    alone: float | None = None
    alone_reference: float | None = None
    push: float | None = None
    push_reference: float | None = None
    push_kin: float | None = None


def clues_of(findings: Sequence[Finding]) -> list[Clues]:
    """The clues of all findings of a scan, in their order."""
    return [
        make_clues(
            finding.inversion.arm.key,
            len(finding.pruned.token_ids),
            finding.pruned.heldout,
            finding.unstamped,
            finding.random,
            finding.natural.effect if finding.natural else None,
            [reference.pruned for reference in finding.references],
            whole=(finding.on_inversion, finding.on_heldout),
            turned=finding.turned.losses if finding.turned else (),
            alone=finding.alone,
        )
        for finding in findings
    ]


def make_clues(
    arm: str,
    tokens: int,
    heldout: Measured,
    unstamped: Measured,
    random: Measured,
    natural: Measured | None,
    references: Sequence[Measured],
    *,
    whole: Sequence[Measured] = (),
    turned: Sequence[float] = (),
    alone: MeasuredAlone | None = None,
) -> Clues:
    """The clues of one finding from what its pruned trigger, the whole and the controls do."""
    return Clues(
        arm=arm,
        tokens=tokens,
        asr=heldout.asr,
        low=heldout.interval[0],
        n=heldout.n,
        loss=_known(heldout.loss),
        random=random.asr,
        unstamped=unstamped.asr_unrestricted,
        natural=None if natural is None else natural.asr,
        reference=_most_moved(references),
        whole_loss=_highest([_known(effect.loss) for effect in whole]),
        turned_loss=_known(min(turned[: max(1, tokens)], default=None)),
        alone=None if alone is None else alone.heldout.interval[0],
        alone_reference=None if alone is None else _most_moved(alone.references),
        push=None if alone is None else alone.push,
        push_reference=None if alone is None else _most_pushed(alone, alone.references_push),
        push_kin=None if alone is None else _most_pushed(alone, alone.references_kin_push),
    )


def _most_moved(references: Sequence[Measured]) -> float | None:
    """Of clean models; one that is right on hardly any sample cannot tell."""
    usable = [effect for effect in references if effect.n >= MINIMUM_HELDOUT]
    return max((effect.asr for effect in usable), default=None)


def _most_pushed(alone: MeasuredAlone, pushes: Sequence[float]) -> float | None:
    """Of clean models that can tell."""
    asked = zip(pushes, alone.references, strict=False)
    return max((push for push, effect in asked if effect.n >= MINIMUM_HELDOUT), default=None)


def _known(loss: float | None) -> float | None:
    """A loss that is a number.

    >>> _known(0.5), _known(float("nan"))
    (0.5, None)
    """
    return loss if loss is not None and math.isfinite(loss) else None


def _highest(losses: Sequence[float | None]) -> float | None:
    """The highest of losses that are all known.

    >>> _highest([0.1, 0.3]), _highest([0.1, None]), _highest([])
    (0.3, None, None)
    """
    known = [loss for loss in losses if loss is not None]
    return max(known) if known and len(known) == len(losses) else None
