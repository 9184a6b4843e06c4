"""The long part of a scan: Plan -> Inversions and Findings, pass by pass.

It can be interrupted at any time without losing what was found.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from unhorse.arms.plan import Plan
from unhorse.config import ScanConfig
from unhorse.errors import OutOfMemory
from unhorse.invert.base import Problem
from unhorse.invert.estimate import Estimate, estimate
from unhorse.invert.run import Pass, invert_arms, pose_problem
from unhorse.judge.decide import convicts
from unhorse.judge.evidence import examine, judging_tokens
from unhorse.progress import Announcement, ScanProgress
from unhorse.runtime import is_out_of_memory
from unhorse.types import ArmCount, Finding, Inversion, Runtime, Subject


class Work:
    """Inversion and judging of all planned arms."""

    def __init__(
        self,
        subject: Subject,
        plan: Plan,
        passes: Sequence[Pass],
        config: ScanConfig,
        runtime: Runtime,
        progress: ScanProgress,
    ) -> None:
        self.subject, self.plan, self.passes, self.config = subject, plan, passes, config
        self.runtime, self.progress = runtime, progress
        self.foretold: list[Estimate] = []
        self.inversions: list[Inversion] = []
        self.findings: list[Finding] = []
        self.unjudged: dict[str, str] = {}
        self.begun = 0
        self.interrupted = False
        self.seconds = 0.0

    def run(self) -> None:
        """Passes one after another until one convicts.

        An interruption ends the optimisation, a second one the judging. A lack of
        memory fails the arms that are left, and what was found stays.
        """
        if not self.plan.arms:
            return
        try:
            self._passes()
        except KeyboardInterrupt:
            self.interrupted = True
        except (MemoryError, RuntimeError, OutOfMemory) as error:
            if not is_out_of_memory(error):
                raise
            for arm in self.plan.arms:
                self.unjudged.setdefault(arm.key, "memory ran out")
        finally:
            self.progress.close()

    def _passes(self) -> None:
        for now in self.passes:
            problem = pose_problem(
                self.subject, self.plan.arms, now, self.config.seed, self.runtime
            )
            if not self.begun:
                self._announce(problem)
            began = time.perf_counter()
            self.begun += 1
            self._one_pass(problem, now)
            self.seconds += time.perf_counter() - began
            if self.interrupted or any(map(convicts, self.findings)):
                break

    def _one_pass(self, problem: Problem, now: Pass) -> None:
        self.progress.inverting(now.preset, now.config.epochs)
        found = invert_arms(problem, self.config.method, now.config, self.progress)
        self.inversions += found
        self.interrupted = any(not i.completed and not i.error for i in found)
        allowed = problem.allowed.tolist()
        for inversion in self.progress.judging([i for i in found if not i.error]):
            try:
                finding = examine(self.subject, inversion, allowed, shorten=not self.interrupted)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                self.unjudged[inversion.arm.key] = "memory ran out while it was judged"
            else:
                self.findings.append(finding)

    def _announce(self, problem: Problem) -> None:
        """Foretells all passes from the first one's problem."""
        self.foretold = [
            estimate(
                problem,
                each.config,
                judging_tokens(self.subject, self.plan.arms, each.config.trigger_length),
            )
            for each in self.passes
        ]
        self.progress.announce(
            Announcement(
                subject=self.subject,
                arms=[arm.key for arm in self.plan.arms],
                starved=[arm.key for arm in self.plan.starved],
                passes=[(each.preset, each.config.epochs) for each in self.passes],
                runtime=self.runtime,
                expected_seconds=[each.seconds for each in self.foretold],
                expected_bytes=max(each.bytes for each in self.foretold),
            )
        )

    def expected(self) -> Estimate | None:
        """What was foretold for the passes that were begun."""
        begun = self.foretold[: self.begun]
        if not begun:
            return None
        return Estimate(sum(e.seconds for e in begun), max(e.bytes for e in begun))

    def failures(self) -> list[tuple[str, str]]:
        """Every arm that did not complete, with the reason."""
        starved = [(a.key, "too few usable samples of its victims") for a in self.plan.starved]
        errors = {i.arm.key: i.error for i in self.inversions if i.error} | self.unjudged
        return [*starved, *errors.items()]

    def count(self) -> ArmCount:
        """How the planned arms fared; one counts as run when every pass begun was judged."""
        judged = Counter(f.inversion.arm for f in self.findings if f.inversion.completed)
        return ArmCount(
            planned=len(self.plan.arms) + len(self.plan.starved),
            run=sum(judged[arm] == self.begun > 0 for arm in self.plan.arms),
            failed=len(self.failures()),
            pruned=0,
        )
