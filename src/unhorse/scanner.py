"""The scan, from a model to a report: every stage in order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from unhorse.arms.plan import Plan, plan_arms
from unhorse.config import ScanConfig, make_config
from unhorse.invert.base import Problem
from unhorse.invert.estimate import Estimate, estimate
from unhorse.invert.run import invert_arms, method_config, pose_problem
from unhorse.judge.decide import decide
from unhorse.judge.evidence import examine, judging_tokens
from unhorse.load.subject import ModelLike, SamplesLike, make_subject
from unhorse.progress import Announcement, ScanProgress
from unhorse.report.build import Account, build_report
from unhorse.report.schema import ScanReport
from unhorse.runtime import choose_runtime, keep_freed_memory
from unhorse.types import ArmCount, Finding, Inversion, Runtime, Subject


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

    Args:
        model: a model folder, a hub id (``org/name@revision``), or a transformers
            model in memory, which is left as it is.
        tokenizer: the tokenizer of a model in memory.
        samples: a sample file or data set name, or texts with labels; None lets
            unhorse write its own texts.
        references: clean models for the same task.
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
    method = method_config(config)
    keep_freed_memory()

    progress.loading()
    subject = make_subject(
        model, tokenizer, samples, references, config, runtime.device, method.trigger_length
    )
    plan = plan_arms(subject, config)
    work = _Work(subject, plan, config, runtime, progress)
    work.run()
    verdict = decide(work.findings, work.count(), work.failures(), interrupted=work.interrupted)
    account = Account(
        config=config,
        method=method,
        runtime=runtime,
        seconds=time.perf_counter() - began,
        interrupted=work.interrupted,
        expected=work.expected,
        work_seconds=work.seconds,
    )
    return build_report(
        subject, work.inversions, work.findings, work.count(), verdict, work.failures(), account
    )


class _Work:
    """Inversion and judging, which can be interrupted without losing what was found."""

    def __init__(
        self,
        subject: Subject,
        plan: Plan,
        config: ScanConfig,
        runtime: Runtime,
        progress: ScanProgress,
    ) -> None:
        self.subject, self.plan, self.config = subject, plan, config
        self.runtime, self.progress = runtime, progress
        self.expected: Estimate | None = None
        self.inversions: list[Inversion] = []
        self.findings: list[Finding] = []
        self.interrupted = False
        self.seconds = 0.0

    def run(self) -> None:
        """Does both; an interruption ends the optimisation, a second one the judging."""
        if not self.plan.arms:
            return
        try:
            problem = pose_problem(self.subject, self.plan.arms, self.config, self.runtime)
            self._announce(problem)
            began = time.perf_counter()
            self.inversions = invert_arms(problem, self.config, self.progress)
            self.interrupted = any(not i.completed and not i.error for i in self.inversions)
            self._judge(problem.allowed.tolist())
            self.seconds = time.perf_counter() - began
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.progress.close()

    def _announce(self, problem: Problem) -> None:
        method = method_config(self.config)
        tokens = judging_tokens(self.subject, self.plan.arms, method.trigger_length)
        self.expected = estimate(problem, method, tokens)
        self.progress.announce(
            Announcement(
                subject=self.subject,
                arms=[arm.key for arm in self.plan.arms],
                starved=[arm.key for arm in self.plan.starved],
                epochs=method.epochs,
                runtime=self.runtime,
                expected_seconds=self.expected.seconds,
                expected_bytes=self.expected.bytes,
            )
        )

    def _judge(self, allowed: list[int]) -> None:
        worked = [inversion for inversion in self.inversions if not inversion.error]
        for inversion in self.progress.judging(worked):
            self.findings.append(
                examine(self.subject, inversion, allowed, shorten=not self.interrupted)
            )

    def failures(self) -> list[tuple[str, str]]:
        """Every arm that did not complete, with the reason."""
        starved = [(a.key, "too few usable samples of its victims") for a in self.plan.starved]
        return starved + [(i.arm.key, i.error) for i in self.inversions if i.error]

    def count(self) -> ArmCount:
        """How the planned arms fared."""
        return ArmCount(
            planned=len(self.plan.arms) + len(self.plan.starved),
            run=sum(inversion.completed for inversion in self.inversions),
            failed=len(self.failures()),
            pruned=0,
        )
