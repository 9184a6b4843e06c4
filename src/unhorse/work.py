"""The long part of a scan: Plan -> Inversions and Findings, pass by pass.

It can be interrupted at any time without losing what was found.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from unhorse.arms.plan import Plan
from unhorse.arms.schedule import FINALISTS, Policy, arm_epochs, choose_policy, regions_of
from unhorse.config import ScanConfig
from unhorse.errors import OutOfMemory
from unhorse.invert.afford import affordable_arms, affordable_epochs, limit, tokens_per_pass
from unhorse.invert.base import METHODS, Problem
from unhorse.invert.budget import PLAIN_EPOCHS, Budget, Meter
from unhorse.invert.estimate import Estimate, estimate
from unhorse.invert.pose import Pass, pose_problem
from unhorse.invert.run import compared_with_mirror, invert_arms
from unhorse.invert.telling import telling_tokens
from unhorse.judge.decide import convicts
from unhorse.judge.evidence import examine, judging_tokens, scored
from unhorse.judge.turned import turned_about
from unhorse.learn.agree import AgreementConfig, agree, agreement_tokens
from unhorse.progress import Announcement, ScanProgress
from unhorse.runtime import is_out_of_memory
from unhorse.types import Arm, ArmCount, Finding, Inversion, Runtime, Subject, Turned

WORTH_A_PASS = 0.25
"""What must be left of a budget for another pass, as a share of what the last one took."""

WORTH_AGREEING = 0.5
"""The share of a budget that clean models may take to learn to agree."""


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
        budget: Budget | None = None,
    ) -> None:
        self.subject, self.plan, self.passes, self.config = subject, plan, passes, config
        self.runtime, self.progress, self.budget = runtime, progress, budget
        self.method = METHODS.get(config.method)
        self.meter = Meter()
        self.spent = False
        self.unreached: list[Arm] = []
        self.foretold: list[Estimate] = []
        self.policy = self._policy(len(plan.arms))
        self.inversions: list[Inversion] = []
        self.dropped: list[Inversion] = []
        self.findings: list[Finding] = []
        self.unjudged: dict[str, str] = {}
        self.begun = 0
        self.interrupted = False
        self.seconds = 0.0
        self.allowance = 0.0
        self.deadline: float | None = None

    def run(self) -> None:
        """Passes one after another until one convicts, or again until the budget is spent.

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
        self._plan_by_budget()
        self._make_references_agree()
        for restart in count():
            for now in self.passes:
                # Counted first: a pass that memory does not hold has begun and is not complete.
                self.begun += 1
                problem = self._problem(now, restart)
                if self.begun == 1:
                    self._announce(problem)
                began, before = time.perf_counter(), self.meter.tokens
                self._one_pass(problem, self._cut(now, problem))
                self.seconds += time.perf_counter() - began
                if self.interrupted or self.spent or any(map(convicts, self.findings)):
                    return
                left = self._left()
                if left is not None and left < WORTH_A_PASS * (self.meter.tokens - before):
                    return
            if self.budget is None:
                return

    def _make_references_agree(self) -> None:
        """Clean models learn what the subject says of ordinary text, if the method asks for it.

        Not where that would take most of a budget.
        """
        steps = max(getattr(each.config, "agreement", 0) for each in self.passes)
        if not steps or not any(each.in_objective for each in self.subject.references):
            return
        config, left = AgreementConfig(steps=steps), self._left()
        if left is not None and agreement_tokens(self.subject, config) > WORTH_AGREEING * left:
            return
        self.subject = agree(
            self.subject,
            telling=telling_tokens(self._problem(self.passes[0])),
            seed=self.config.seed,
            config=config,
            progress=self.progress.agreeing,
            count=self.meter.add,
        )

    def _problem(self, now: Pass, restart: int = 0) -> Problem:
        return pose_problem(
            self.subject, self.plan.arms, now, self.config, self.runtime, self.meter, restart
        )

    def _plan_by_budget(self) -> None:
        """Turns the budget into token-passes and plans fewer arms if it is small."""
        if self.budget is None:
            return
        first, before = self.passes[0], time.monotonic()
        problem = self._problem(first)
        epochs = arm_epochs(self.policy, problem.arms, PLAIN_EPOCHS)
        plain = estimate(problem, first.config, epochs, 0)
        self.allowance = limit(self.budget, problem, self.policy, plain.seconds)
        if self.budget.seconds is not None:
            self.deadline = before + self.budget.seconds
        arms = affordable_arms(
            self.plan.arms,
            self.allowance,
            tokens_per_pass(problem),
            self._policy,
        )
        self.plan = replace(self.plan, arms=arms)
        self.policy = self._policy(len(arms))

    def _policy(self, arms: int) -> Policy:
        usual = getattr(self.method, "schedule", None)
        return choose_policy(self.config.schedule, arms, usual)

    def _left(self) -> float | None:
        """What is left of the budget in token-passes, for a time as far as can be told."""
        if self.budget is None:
            return None
        if self.budget.seconds is not None and self.deadline is not None:
            share = (self.deadline - time.monotonic()) / self.budget.seconds
            return self.allowance * max(0.0, share)
        return self.allowance - self.meter.tokens

    def _budget_text(self) -> str:
        if self.budget is None:
            return ""
        about = "about " if self.budget.seconds is not None else ""
        return f"{self.budget.text}: {about}{self.allowance:,.0f} token-passes"

    def _cut(self, now: Pass, problem: Problem) -> Pass:
        """The pass with the epochs that the budget pays for."""
        left = self._left()
        if left is None:
            return now
        units = self.method.units(now.config)
        return replace(now, config=affordable_epochs(now.config, units, self.policy, problem, left))

    def _one_pass(self, problem: Problem, now: Pass) -> None:
        self.progress.inverting(now.preset, self._arm_epochs(now))
        left = self._left()
        if left is not None:
            self.meter.allow(left, self.deadline)
        made = invert_arms(problem, self.config.method, now.config, self.policy, self.progress)
        self.spent = made.spent
        self.unreached += made.unreached if made.spent else ()
        self.inversions += made.found
        self.dropped += made.dropped
        self.interrupted = made.interrupted
        for inversion in self.progress.judging([i for i in made.found if not i.error]):
            usable = problem.usable(self.plan.arms.index(inversion.arm)).tolist()
            self._judge(inversion, [*made.found, *made.dropped], usable, now)

    def _judge(
        self,
        inversion: Inversion,
        beside: Sequence[Inversion],
        allowed: Sequence[int],
        now: Pass,
    ) -> None:
        try:
            finding = examine(
                self.subject,
                inversion,
                allowed,
                mirror=compared_with_mirror(inversion, beside),
                shorten=not self.interrupted,
            )
            if self._turns(now):
                finding = scored(replace(finding, turned=self._turned(finding, now)))
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            self.unjudged[inversion.arm.key] = "memory ran out while it was judged"
        else:
            self.findings.append(finding)

    def _turns(self, now: Pass) -> bool:
        """Whether findings are compared with a search in which the models have changed places.

        Not within a budget: that is for what all methods do alike.
        """
        wanted = getattr(now.config, "turned", False)
        return bool(wanted) and self.budget is None and not self.interrupted

    def _turned(self, finding: Finding, now: Pass) -> Turned | None:
        try:
            return turned_about(self.subject, finding, now, self.config, self.runtime, self.meter)
        except KeyboardInterrupt:
            # The finding stays, without this control.
            self.interrupted = True
            return None
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return None

    def _arm_epochs(self, now: Pass) -> int:
        return arm_epochs(self.policy, self.plan.arms, now.config.epochs, now.config.warm_up)

    def _announce(self, problem: Problem) -> None:
        """Foretells all passes from the first one's problem, as far as the budget pays."""
        passes = [self._cut(each, problem) for each in self.passes]
        self.foretold = [
            estimate(
                problem,
                each.config,
                self._arm_epochs(each),
                judging_tokens(self.subject, self._judged(), each.config.trigger_length),
                self.method.units(each.config),
            )
            for each in passes
        ]
        self.progress.announce(
            Announcement(
                subject=self.subject,
                arms=[arm.key for arm in self.plan.arms],
                starved=[arm.key for arm in self.plan.starved],
                screened=[arm.key for arm in self.plan.screened],
                schedule=self.policy.name,
                passes=[(each.preset, each.config.epochs) for each in passes],
                budget=self._budget_text(),
                runtime=self.runtime,
                expected_seconds=[each.seconds for each in self.foretold],
                expected_bytes=max(each.bytes for each in self.foretold),
            )
        )

    def _judged(self) -> Sequence[Arm]:
        """About as many arms as the policy takes to the end."""
        arms = self.plan.arms
        if self.policy.name == "all":
            return arms
        return arms[: FINALISTS + len(set(regions_of(arms))) - 1]

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
        pass failed with it; as pruned when every pass dropped it, or it was screened out,
        or the budget was spent before its turn.
        """
        judged = Counter(f.inversion.arm for f in self.findings if f.inversion.completed)
        given_up = [] if self.interrupted else [i.arm for i in self.dropped if not i.error]
        dropped = Counter([*given_up, *self.unreached])
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
