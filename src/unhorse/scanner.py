"""The scan, from a model to a report: every stage in order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from unhorse.arms.plan import plan_arms
from unhorse.config import ScanConfig, make_config
from unhorse.invert.budget import parse_budget
from unhorse.invert.run import check_task, choose_method, fallback_passes, plan_passes
from unhorse.judge.circumstances import circumstances_of
from unhorse.judge.decide import decide
from unhorse.judge.ruling import asked_profile, check_fits, make_ruling
from unhorse.learn.distil import check_base, distil, is_asked_for, untaught
from unhorse.load.subject import ModelLike, SamplesLike, make_subject, open_model
from unhorse.progress import ScanProgress
from unhorse.report.build import Account, build_report
from unhorse.report.schema import ScanReport
from unhorse.runtime import choose_runtime, fitted, keep_freed_memory
from unhorse.types import LoadedModel
from unhorse.work import Work
from unhorse.zoo.beside import check_beside


def scan(
    model: ModelLike,
    tokenizer: Any = None,
    samples: SamplesLike = None,
    references: Sequence[ModelLike] = (),
    *,
    config: ScanConfig | None = None,
    progress: ScanProgress | None = None,
    **changes: Any,
) -> ScanReport:
    """Scans a model for a backdoor.

    Ctrl-C ends the work early and gives the report of what was found so far, with
    `interrupted` set.

    Args:
        model: a model folder, a hub id (``org/name@revision``), or a transformers
            model in memory, which is left as it is.
        tokenizer: the tokenizer of a model in memory.
        samples: a sample file or data set name, or samples in memory (texts with
            labels, words with tags, or questions with contexts and answers); None
            lets unhorse write its own texts.
        references: clean models for the same task; one in memory whose tokenizer is
            not the subject's is given as a pair of model and tokenizer. The word
            ``"distill"`` makes one from the model itself and ``base="..."``, the
            checkpoint that it was fine-tuned from.
        config: a complete configuration.
        progress: is told how the scan goes.
        **changes: single fields of the configuration, such as ``seed=1``.

    Returns:
        The report; ``report.verdict.state`` is the decision.
    """
    began = time.perf_counter()
    config = make_config(config.model_dump() if config else None, **changes)
    progress = progress or ScanProgress()
    runtime = choose_runtime(config.device, config.dtype)
    asked_for, config = config, choose_method(config, compared=bool(references))
    passes = plan_passes(config)
    longest = max(each.config.trigger_length for each in (*passes, *fallback_passes(asked_for)))
    budget = None if config.budget is None else parse_budget(config.budget)
    asked = asked_profile(config)
    check_base(references, config.base)
    check_beside(model, references)
    keep_freed_memory()

    progress.loading()
    loaded = open_model(model, tokenizer, runtime.device)
    runtime = fitted(runtime, loaded.model)
    beside, student = _with_student(loaded, references, config)
    subject = make_subject(loaded, None, samples, beside, config, runtime.device, longest)
    if student is not None:
        subject = distil(
            subject,
            student,
            base=str(config.base),
            tokens=config.max_tokens,
            seed=config.seed,
            progress=progress.distilling,
        )
    if not any(reference.in_objective for reference in subject.references):
        config = choose_method(asked_for, compared=False)
        passes = plan_passes(config)
        asked = asked_profile(config)
    task, compared = subject.loaded.task, bool(subject.references)
    check_task(config, task)
    if asked is not None:
        check_fits(asked, task, reference=compared)
    plan = plan_arms(subject, config)
    work = Work(subject, plan, passes, config, runtime, progress, budget)
    work.run()
    subject = work.subject
    inversions = [*work.inversions, *work.dropped]
    now = circumstances_of(subject, config, passes, inversions)
    ruling = make_ruling(config, asked, task, now, reference=compared)
    findings = ruling.judged(work.findings)
    verdict = decide(
        findings, work.count(), work.failures(), interrupted=work.interrupted, ruling=ruling
    )
    account = Account(
        config=config,
        passes=passes,
        runtime=runtime,
        seconds=time.perf_counter() - began,
        interrupted=work.interrupted,
        expected=work.expected(),
        work_seconds=work.seconds,
        schedule=work.policy.name,
        meter=work.meter,
        spent=work.spent,
    )
    return build_report(
        subject, inversions, findings, work.count(), verdict, work.failures(), account
    )


def _with_student(
    loaded: LoadedModel, references: Sequence[ModelLike], config: ScanConfig
) -> tuple[list[ModelLike], LoadedModel | None]:
    """The clean models, with a student of the subject among them where one is asked for."""
    given = [reference for reference in references if not is_asked_for(reference)]
    if config.base is None or len(given) == len(references):
        return given, None
    student = untaught(loaded, config.base, config.seed)
    return [*given, student], student
