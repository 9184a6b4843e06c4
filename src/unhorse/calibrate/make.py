"""Results of one method and task -> a Profile."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version

from unhorse.bench.result import Result
from unhorse.calibrate.fit import case_of
from unhorse.calibrate.learn import learn
from unhorse.calibrate.rates import judge, judge_left_out, measured
from unhorse.calibrate.stored import stored_circumstances, stored_clues, stored_version
from unhorse.judge.circumstances import digest
from unhorse.judge.population import Population, Range
from unhorse.judge.profile import Profile, logistic

_PACKAGES = ("unhorse", "numpy", "scipy", "scikit-learn")


def make_profile(results: Sequence[Result], step: Callable[[], None] = lambda: None) -> Profile:
    """Learns the decision and measures it.

    Args:
        results: of one kind, as `read_chosen` gives them.
        step: told of every part of the estimate on models left out.
    """
    first, cases = results[0], [case_of(result) for result in results]
    reference = first.reference is not None
    learnt = learn(cases, reference=reference)
    by, left_out = judge_left_out(cases, reference=reference, step=step)
    weights = learnt.weights
    profile = Profile(
        id="",
        task=first.model.task,
        method=first.method,
        preset=first.preset,
        budget=first.budget,
        method_version=stored_version(first),
        reference=reference,
        weights=dict(zip(weights.names, map(float, weights.values), strict=True)),
        bias=weights.bias,
        convict=logistic(learnt.convict),
        suspect=logistic(learnt.suspect),
        population=population_of(results),
        seeds=tuple(sorted({result.seed for result in results})),
        trojaned=len({case.model for case in cases if case.poisoned}),
        clean=len({case.model for case in cases if not case.poisoned}),
        families=_names(case.family for case in cases),
        splits=_names(result.model.split for result in results),
        in_sample=measured(judge(cases, learnt)),
        left_out=measured(left_out),
        left_out_by=by,
        data=digest_of_evidence(results),
        versions={name: version(name) for name in _PACKAGES},
    )
    return profile.model_copy(update={"id": _id(profile, first.label)})


def population_of(results: Sequence[Result]) -> Population:
    """What the models and samples of some results have in common."""
    now = [stored_circumstances(result) for result in results]
    layers = [each.layers for each in now if each.layers is not None]
    return Population(
        architectures=_names(result.model.architecture for result in results),
        layers=_range(layers) if layers else None,
        labels=_range([each.labels for each in now]),
        words=_range([each.words for each in now]),
        used=_range([each.used for each in now]),
        heldout=_range([each.heldout for each in now]),
        victims=_names(trigger.victim for result in results for trigger in result.triggers),
        positions=_names(position for each in now for position in each.positions),
        own_texts=any(each.own_texts for each in now),
        distilled=any(each.distilled for each in now),
    )


def digest_of_evidence(results: Sequence[Result]) -> str:
    """A digest of all that was learnt from, whatever order it came in."""
    evidence = [
        [result.model.digest, result.seed, result.model.poisoned, result.reference or ""]
        + [list(dataclasses.asdict(clues).values()) for clues in stored_clues(result)]
        for result in results
    ]
    # As text, because what was not measured cannot be compared with what was.
    return digest(sorted(map(json.dumps, evidence)))


def _id(profile: Profile, method: str) -> str:
    """A name that says what it is for, and the same content always has."""
    told = "reference" if profile.reference else "alone"
    content = digest(profile.model_dump(mode="json", exclude={"id", "versions"}))
    return f"{profile.task}-{method.replace(':', '-')}-{told}-{content[:8]}"


def _range(values: Sequence[float]) -> Range:
    return Range(lowest=min(values), highest=max(values))


def _names(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))
