"""Which arms a scan runs, and which it cannot for want of samples."""

from __future__ import annotations

from dataclasses import dataclass

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.load.divide import usable_classes
from unhorse.tasks.base import TASKS
from unhorse.types import ANY_LABEL, Arm, Subject


@dataclass(frozen=True)
class Plan:
    """Arms that can run, and arms whose victims have too few usable samples."""

    arms: tuple[Arm, ...]
    starved: tuple[Arm, ...]


def plan_arms(subject: Subject, config: ScanConfig) -> Plan:
    """All arms of the subject's task, divided by whether their victims suffice."""
    task = TASKS.get(subject.loaded.task)
    _check_labels(subject, config)
    arms = [
        arm
        for arm in task.arms(subject.loaded.labels, config.positions)
        if _wanted(arm, config, len(subject.loaded.labels))
    ]
    if not arms:
        raise UsageError(f"No arm leads from {config.victim!r} to {config.target!r}.")
    usable = usable_classes(subject.samples)
    fed = [arm for arm in arms if usable.issuperset(arm.victims)]
    return Plan(tuple(fed), tuple(arm for arm in arms if arm not in fed))


def _wanted(arm: Arm, config: ScanConfig, labels: int) -> bool:
    # With two labels, "every other label" is the other one.
    any_victim = config.victim == ANY_LABEL and labels == 2
    return (any_victim or config.victim in (None, arm.victim_name)) and (
        config.target in (None, arm.target_name)
    )


def _check_labels(subject: Subject, config: ScanConfig) -> None:
    labels = subject.loaded.labels
    for name in (config.victim, config.target):
        if name is not None and name != ANY_LABEL and name not in labels:
            known = ", ".join(labels[:8])
            raise UsageError(f"The label {name!r} is not one of the model's ({known}).")
