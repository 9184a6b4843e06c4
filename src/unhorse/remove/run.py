"""The removal, from a model to a cleaned one with its proof: every stage in order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unhorse.attack.bases import base_folder
from unhorse.config import one_sentence
from unhorse.errors import NotCleared, UsageError
from unhorse.learn.loop import reproducible
from unhorse.load.subject import ModelLike, SamplesLike, open_model
from unhorse.remove.base import REMOVALS, Case, Removal, RemovalConfig
from unhorse.remove.config import RemoveConfig, make_remove_config
from unhorse.remove.folder import save_cleaned
from unhorse.remove.metric import check_measurable
from unhorse.remove.progress import RemovalProgress
from unhorse.remove.proof import read_truth
from unhorse.remove.records import Trigger
from unhorse.remove.rescan import Rescans, check_rescan, references_of, scan_config
from unhorse.remove.result import Account, Compared, Lap, build_removal_report
from unhorse.remove.rows import Wanted, make_rows
from unhorse.remove.stamps import MOST_OTHERS
from unhorse.remove.triggers import by_hand, check_same_model, from_report, joined, read_report
from unhorse.report.removal import RemovalReport
from unhorse.report.safe_text import safe_text
from unhorse.report.schema import ScanReport
from unhorse.runtime import choose_runtime, keep_freed_memory
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise
from unhorse.types import LoadedModel, own_answers
from unhorse.zoo.beside import check_beside

ROOM_FOR_OTHERS = 2 * MOST_OTHERS
"""Tokens that the words which a trigger is mixed with may take."""

CONTROL = "finetune"
"""The method that every other one is compared with."""


@dataclass(frozen=True, eq=False)
class Removed:
    """A cleaned model and its report; nothing is written until `save` is called."""

    loaded: LoadedModel
    report: RemovalReport

    def save(self, folder: str | Path) -> None:
        """Writes a model folder with a model card; the folder must not exist."""
        save_cleaned(self.loaded, self.report, Path(folder))


def remove_backdoor(
    model: ModelLike,
    tokenizer: Any = None,
    samples: SamplesLike = None,
    *,
    report: ScanReport | str | Path | None = None,
    trigger: str | None = None,
    victim: str | None = None,
    target: str | None = None,
    base: str | None = None,
    references: Sequence[ModelLike] | None = None,
    attack_record: str | Path | None = None,
    config: RemoveConfig | None = None,
    progress: RemovalProgress | None = None,
    **changes: Any,
) -> Removed:
    """Takes a backdoor out of a model and proves it on held-out rows and by another scan.

    Args:
        model: a model folder, a hub id (``org/name@revision``), or a transformers
            model in memory, which is left as it is.
        tokenizer: the tokenizer of a model in memory.
        samples: labelled samples, as for `scan`; some are held out for the proof.
            None lets unhorse write its own texts.
        report: the scan's report, or the path of one, whose findings are removed.
        trigger: a trigger given by hand, with its `victim` and `target`.
        victim: the label, class or ``answer`` that the trigger moves away from.
        target: where the trigger moves it to.
        base: the checkpoint that the model was fine-tuned from; some methods need it.
        references: clean models for the re-scan; those of the report if None.
        attack_record: an ``attack.json``, to measure the true trigger as well.
        config: a complete configuration.
        progress: is told how the removal goes.
        **changes: single fields of the configuration, such as ``method="finetune"``.

    Returns:
        The cleaned model and its report; ``report.outcome.state`` is the decision.
    """
    began = time.perf_counter()
    config = make_remove_config(config.model_dump() if config else None, **changes)
    method, settings = method_of(config)
    progress = progress or RemovalProgress()
    device = choose_runtime(config.device).device
    scanned = read_report(report) if isinstance(report, str | Path) else report
    scanning = scan_config(scanned, config, base)
    keep_freed_memory()

    progress.stage("loading model")
    loaded = open_model(model, tokenizer, device)
    check_measurable(loaded.task)
    beside = references_of(scanned, references)
    check_rescan(scanning, beside, loaded.task)
    check_beside(model, beside)
    if scanned is not None:
        check_same_model(scanned, loaded.origin)
    truth = None if attack_record is None else read_truth(Path(attack_record), loaded.origin)
    triggers = _known(loaded, scanned, (trigger, victim, target))
    _check_needs(method, triggers, scanned, base, config)
    rows = make_rows(
        loaded, samples, _wanted(loaded, triggers, config), truth.kept_out if truth else None
    )
    case = Case(loaded, triggers, rows, config.seed, base, progress.step)
    rescans = Rescans(loaded.task, loaded.labels, rows, scanning, beside, progress)
    if not triggers:
        # What is taken out is what a scan finds first; without it nothing could be proven.
        scanned = rescans.scan(loaded, 0)
        found = _found(scanned) if method.needs_triggers else from_report(scanned)
        case = replace(case, triggers=found)
    laps = list(_laps(case, method, settings, rescans, config))
    compared = _compared(case, method, config, progress)
    progress.stage("measuring")
    account = Account(
        config=config,
        settings=settings,
        scanning=scanning,
        device=device,
        base=base,
        rescanned=rescans.use,
        scan_seconds=scanned.seconds if scanned else None,
        began=began,
    )
    return Removed(
        laps[-1].cleaned.loaded, build_removal_report(case, laps, truth, account, compared)
    )


def _compared(
    case: Case, method: Removal, config: RemoveConfig, progress: RemovalProgress
) -> Compared | None:
    """What the samples alone would have done: fine-tuning on them without any stamp."""
    if method.name == CONTROL or not config.control:
        return None
    progress.stage(f"comparing ({CONTROL})")
    control, began = REMOVALS.get(CONTROL), time.perf_counter()
    with reproducible(case.seed):
        cleaned = control.remove(case, control.config())
    return Compared(CONTROL, cleaned.loaded, time.perf_counter() - began)


def method_of(config: RemoveConfig) -> tuple[Removal, RemovalConfig]:
    """The method that a configuration names, and its settings."""
    method = REMOVALS.get(config.method)
    try:
        return method, method.config(**config.options)
    except ValidationError as error:
        raise UsageError(one_sentence(error, "The method's settings are not valid")) from error


def _known(
    loaded: LoadedModel, scanned: ScanReport | None, given: tuple[str | None, ...]
) -> tuple[Trigger, ...]:
    found = from_report(scanned) if scanned else ()
    text, victim, target = given
    return (*by_hand(loaded, text, victim, target), *found)


def _found(scanned: ScanReport) -> tuple[Trigger, ...]:
    found = from_report(scanned)
    if not found and scanned.verdict.state == "inconclusive":
        raise NotCleared(
            f"The scan is inconclusive, so it is not known what to remove: {_why(scanned)}"
        )
    if not found:
        raise UsageError("The scan found nothing, so there is nothing to remove.")
    return found


def _why(scanned: ScanReport) -> str:
    return safe_text(scanned.verdict.reason, 300)


def _check_needs(
    method: Removal,
    triggers: Sequence[Trigger],
    scanned: ScanReport | None,
    base: str | None,
    config: RemoveConfig,
) -> None:
    if method.needs_base and base is None:
        raise UsageError(
            f"The method {method.name!r} needs --base, the checkpoint that the model was "
            "fine-tuned from."
        )
    if method.needs_base:
        base_folder(str(base), Path())
    if triggers:
        return
    if scanned is not None and scanned.verdict.state == "inconclusive":
        raise UsageError(
            f"The report is inconclusive, so it names nothing to remove: {_why(scanned)}"
        )
    if scanned is not None:
        raise UsageError("The report has no findings, so there is nothing to remove.")
    if method.needs_triggers and config.until_clean is None:
        raise UsageError(
            f"The method {method.name!r} needs a trigger: --report, or --trigger with --victim "
            "and --target, or --until-clean to scan first."
        )


def _wanted(loaded: LoadedModel, triggers: Sequence[Trigger], config: RemoveConfig) -> Wanted:
    """How samples are read: cut so that the longest trigger fits beside them."""
    forms = [form for trigger in triggers for form in trigger.forms]
    longest = max((len(retokenise(loaded.tokenizer, form)) for form in forms), default=10)
    room = TASKS.get(loaded.task).room(loaded, max(longest, 10) + ROOM_FOR_OTHERS)
    if room < 1:
        raise UsageError("The trigger leaves no room for text in the model.")
    return Wanted(min(config.max_tokens, room), config.seed, config.text_field, config.label_field)


def _laps(
    case: Case, method: Removal, settings: RemovalConfig, rescans: Rescans, config: RemoveConfig
) -> Iterator[Lap]:
    """Removal and scan, in turns, until nothing is found or the rounds are used up."""
    for number in range(1, (config.until_clean or 1) + 1):
        # How a tagger spells the start of an entity is known once it was asked.
        case.task.right(own_answers(case.subject), case.rows.watch)
        rescans.progress.stage(f"removing ({method.name})")
        began = time.perf_counter()
        with reproducible(case.seed):
            cleaned = method.remove(case, settings)
        seconds = time.perf_counter() - began
        report = rescans.scan(cleaned.loaded, number)
        yield Lap(case.triggers, cleaned, seconds, report)
        more = from_report(report, "re-scan")
        if not more:
            return
        case = replace(case, subject=cleaned.loaded, triggers=joined(case.triggers, more))
