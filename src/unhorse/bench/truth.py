"""A trojaned model and its record -> its true trigger pruned as a found one is, and recovery."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unhorse.attack.record import MODEL
from unhorse.bench.handed import Handed
from unhorse.bench.result import Trigger, TrueTrigger
from unhorse.config import ScanConfig
from unhorse.judge.evidence import WORTH_PRUNING
from unhorse.judge.measure import subject_witness
from unhorse.judge.prune import prune
from unhorse.load.subject import make_subject
from unhorse.report.schema import FindingRecord
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise, trigger_text
from unhorse.types import ANY_LABEL, Arm, Position

HALF = 0.5
"""The share of word pieces that found and true trigger must have of each other."""

_SLOTS = 10
"""Tokens of room that samples leave for a trigger, as in a scan."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What is planted in a model: its arm, its trigger, and how to read word pieces."""

    arm: Arm | None = None
    trigger: TrueTrigger | None = None
    tokenizer: Any = None

    def marked(self, finding: FindingRecord) -> Trigger:
        """A finding and how it compares with what is planted."""
        facts: dict[str, Any] = {"true_arm": is_true_arm(finding, self.arm)}
        shares = None
        if self.trigger is not None:
            found = pieces(self.tokenizer, finding.pruned.retokenised_ids)
            shares = overlap(found, self.trigger.pieces)
        facts["precision"], facts["recall"] = shares or (None, None)
        facts["recovered"] = None if shares is None else min(shares) >= HALF
        kept = {name: getattr(finding, name) for name in FindingRecord.model_fields}
        return Trigger(**{**kept, "example": None, **facts})


def truth_of(handed: Handed, config: ScanConfig) -> Truth:
    """What is planted in a built model; nothing in a clean one.

    Args:
        handed: the model and what a scan of it is handed.
        config: the scan's configuration, which decides the samples that pruning looks at.
    """
    record, probes = handed.record, handed.probes
    if not record.poisoned or probes is None:
        return Truth()
    if not record.trigger:
        return Truth(probes.arm)
    subject = make_subject(handed.folder / MODEL, None, handed.samples, (), config, "cpu", _SLOTS)
    task, tokenizer = TASKS.get(record.task), subject.loaded.tokenizer
    where = place(record.scope, record.trigger, probes.arm, task.positions)
    arm = replace(probes.arm, position=where)
    seen = subject_witness(task, subject, arm, subject.samples.inversion, seed=config.seed)
    whole = seen.effect(record.trigger)
    ids = retokenise(tokenizer, record.trigger)
    if whole.asr >= WORTH_PRUNING:
        ids = prune(
            ids, whole, lambda many: seen.effects([trigger_text(tokenizer, i) for i in many])
        )
    trigger = TrueTrigger(
        text=record.trigger,
        position=arm.position,
        asr=whole.asr,
        loss=whole.loss if math.isfinite(whole.loss) else None,
        pruned=trigger_text(tokenizer, ids),
        pieces=pieces(tokenizer, retokenise(tokenizer, trigger_text(tokenizer, ids))),
    )
    return Truth(probes.arm, trigger, tokenizer)


def place(scope: str | None, trigger: str, arm: Arm, positions: Sequence[Position]) -> Position:
    """Where a trigger of some scope works, of the positions that a task knows.

    >>> arm = Arm((0,), 1, "start", "land", "sea")
    >>> place("global", "brass cup", arm, ["start"]), place("local", "~", arm, ["glued"])
    ('first_half', 'glued')
    >>> place(None, "brass cup", arm, ["start"])
    'start'
    """
    if len(trigger) == 1 and "glued" in positions:
        return "glued"
    halves: dict[str | None, Position] = {
        "global": "first_half",
        "first_half": "first_half",
        "second_half": "second_half",
    }
    return halves.get(scope, arm.position)


def is_true_arm(finding: FindingRecord, arm: Arm | None) -> bool:
    """Whether a finding's arm leads from a true victim to the true target."""
    if arm is None or finding.target != arm.target_name:
        return False
    return arm.victim_name in (ANY_LABEL, finding.victim)


def pieces(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Word pieces as they read, so that capitals and marks of a word's begin do not count."""
    return tuple(dict.fromkeys(trigger_text(tokenizer, [token]).lower() for token in ids))


def overlap(found: Iterable[str], true: Iterable[str]) -> tuple[float, float]:
    """The share of the found pieces that are true ones, and of the true ones that were found.

    >>> overlap(["cup", "tin"], ["cup", "brass", "old"])
    (0.5, 0.3333333333333333)
    >>> overlap([], ["cup"])
    (0.0, 0.0)
    """
    ours, theirs = set(found), set(true)
    both = len(ours & theirs)
    return (both / len(ours) if ours else 0.0), (both / len(theirs) if theirs else 0.0)
