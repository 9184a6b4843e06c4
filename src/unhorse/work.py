"""The long part of a scan: Plan -> Inversions and Findings, pass by pass.

It can be interrupted at any time without losing what was found.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from unhorse.arms.plan import Plan
from unhorse.arms.schedule import FINALISTS, arm_epochs, choose_policy
from unhorse.config import ScanConfig
from unhorse.errors import OutOfMemory
from unhorse.invert.base import Problem
from unhorse.invert.estimate import Estimate, estimate
from unhorse.invert.run import Pass, compared_with_mirror, invert_arms, pose_problem
from unhorse.judge.decide import convicts
from unhorse.judge.evidence import examine, judging_tokens
from unhorse.progress import Announcement, ScanProgress
from unhorse.runtime import is_out_of_memory
from unhorse.types import Arm, ArmCount, Finding, Inversion, Runtime, Subject


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
        self.policy = choose_policy(config.schedule, len(plan.arms))
        self.inversions: list[Inversion] = []
        self.dropped: list[Inversion] = []
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
            # Counted first: a pass that memory does not hold has begun and is not complete.
            self.begun += 1
            problem = pose_problem(self.subject, self.plan.arms, now, self.config, self.runtime)
            if self.begun == 1:
                self._announce(problem)
            began = time.perf_counter()
            self._one_pass(problem, now)
            self.seconds += time.perf_counter() - began
            if self.interrupted or any(map(convicts, self.findings)):
                break

    def _one_pass(self, problem: Problem, now: Pass) -> None:
        self.progress.inverting(now.preset, self._arm_epochs(now))
        made = invert_arms(problem, self.config.method, now.config, self.policy, self.progress)
        self.inversions += made.found
        self.dropped += made.dropped
        self.interrupted = made.interrupted
        for inversion in self.progress.judging([i for i in made.found if not i.error]):
            usable = problem.usable(self.plan.arms.index(inversion.arm)).tolist()
            self._judge(inversion, [*made.found, *made.dropped], usable)

    def _judge(
        self, inversion: Inversion, beside: Sequence[Inversion], allowed: Sequence[int]
    ) -> None:
        try:
            finding = examine(
                self.subject,
                inversion,
                allowed,
                mirror=compared_with_mirror(inversion, beside),
                shorten=not self.interrupted,
            )
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            self.unjudged[inversion.arm.key] = "memory ran out while it was judged"
        else:
            self.findings.append(finding)

    def _arm_epochs(self, now: Pass) -> int:
        return arm_epochs(self.policy, self.plan.arms, now.config.epochs)

    def _announce(self, problem: Problem) -> None:
        """Foretells all passes from the first one's problem."""
        self.foretold = [
            estimate(
                problem,
                each.config,
                self._arm_epochs(each),
                judging_tokens(self.subject, self._judged(), each.config.trigger_length),
            )
            for each in self.passes
        ]
        self.progress.announce(
            Announcement(
                subject=self.subject,
                arms=[arm.key for arm in self.plan.arms],
                starved=[arm.key for arm in self.plan.starved],
                screened=[arm.key for arm in self.plan.screened],
                schedule=self.policy.name,
                passes=[(each.preset, each.config.epochs) for each in self.passes],
                runtime=self.runtime,
                expected_seconds=[each.seconds for each in self.foretold],
                expected_bytes=max(each.bytes for each in self.foretold),
            )
        )

    def _judged(self) -> Sequence[Arm]:
        """As many arms as the policy takes to the end."""
        arms = self.plan.arms
        return arms if self.policy.name == "all" else arms[:FINALISTS]

    def expected(self) -> Estimate | None:
        """What was foretold for the passes that were begun."""
        begun = self.foretold[: self.begun]
        if not begun:
            return None
        return Estimate(sum(e.seconds for e in begun), max(e.bytes for e in begun))

    def failures(self) -> list[tuple[str, str]]:
        """Every arm that did not complete, with the reason."""
        starved = [(a.key, "too few usable samples of its victims") for a in self.plan.starved]
        begun = [*self.inversions, *self.dropped]
        errors = {i.arm.key: i.error for i in begun if i.error} | self.unjudged
        return [*starved, *errors.items()]

    def count(self) -> ArmCount:
        """How the planned arms fared.

        One counts as run when some pass took it to the end and judged it, and no
        pass failed with it; as pruned when every pass dropped it, or it was screened out.
        """
        judged = Counter(f.inversion.arm for f in self.findings if f.inversion.completed)
        given_up = [] if self.interrupted else [i.arm for i in self.dropped if not i.error]
        dropped = Counter(given_up)
        failed = {name for name, _ in self.failures()}
        whole = [
            arm
            for arm in self.plan.arms
            if judged[arm] + dropped[arm] == self.begun > 0 and arm.key not in failed
        ]
        run = sum(judged[arm] > 0 for arm in whole)
        return ArmCount(
            planned=len(self.plan.arms) + len(self.plan.starved) + len(self.plan.screened),
            run=run,
            failed=len(self.failures()),
            pruned=len(whole) - run + len(self.plan.screened),
        )
