"""Which arms a scan runs, which it leaves out, and which it cannot for want of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unhorse.arms.screen import kept_pairs, pairs_of, screened, too_many
from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.load.divide import usable_classes
from unhorse.tasks.base import TASKS
from unhorse.types import ANY_LABEL, Arm, Position, Subject


@dataclass(frozen=True)
class Plan:
    """Arms that can run, arms whose victims have too few usable samples, arms screened out."""

    arms: tuple[Arm, ...]
    starved: tuple[Arm, ...] = ()
    screened: tuple[Arm, ...] = ()


def plan_arms(subject: Subject, config: ScanConfig) -> Plan:
    """All arms of the subject's task, divided by whether their victims suffice."""
    task = TASKS.get(subject.loaded.task)
    labels = subject.loaded.labels
    arms = task.arms(labels, _positions(subject, config), config.target)
    _check_names(arms, config)
    wanted = [arm for arm in arms if _wanted(arm, config, arms)]
    if not wanted:
        raise UsageError(f"No arm leads from {config.victim!r} to {config.target!r}.")
    usable = usable_classes(subject.samples)
    fed = [given for arm in wanted if (given := _fed(arm, usable)) is not None]
    starved = [arm for arm in wanted if _fed(arm, usable) is None]
    left_out: list[Arm] = []
    if too_many(wanted):
        affinity = task.affinity(subject.answerer, subject.samples.inversion)
        if affinity is not None:
            fed, left_out = screened(fed, kept_pairs(affinity, pairs_of(fed)))
    return Plan(tuple(fed), tuple(starved), tuple(left_out))


def _fed(arm: Arm, usable: set[int]) -> Arm | None:
    """The arm with those of its victims that have samples; a universal one needs two of them."""
    victims = tuple(victim for victim in arm.victims if victim in usable)
    if len(victims) < min(2, len(arm.victims)):
        return None
    return replace(arm, victims=victims)


def _positions(subject: Subject, config: ScanConfig) -> tuple[Position, ...]:
    task = TASKS.get(subject.loaded.task)
    for position in config.positions or ():
        if position not in task.positions:
            known = ", ".join(task.positions)
            raise UsageError(
                f"A trigger cannot be looked for at {position!r} in {task.name}; known: {known}."
            )
    return config.positions or task.default_positions


def _wanted(arm: Arm, config: ScanConfig, arms: list[Arm]) -> bool:
    # With two labels, "every other label" is the other one.
    any_victim = config.victim == ANY_LABEL and not any(a.victim_name == ANY_LABEL for a in arms)
    return (any_victim or config.victim in (None, arm.victim_name)) and (
        config.target in (None, arm.target_name)
    )


def _check_names(arms: list[Arm], config: ScanConfig) -> None:
    victims = list(dict.fromkeys(arm.victim_name for arm in arms))
    targets = list(dict.fromkeys(arm.target_name for arm in arms))
    for name, names in ((config.victim, victims), (config.target, targets)):
        if name is not None and name not in (ANY_LABEL, *names):
            known = ", ".join([n for n in names if n != ANY_LABEL][:8])
            raise UsageError(f"The label {name!r} is not one of the model's ({known}).")
