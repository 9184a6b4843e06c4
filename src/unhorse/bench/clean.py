"""How often clean models are convicted, over the models of all suites together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from unhorse.bench.group import given_of, is_first, method_of
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet, share, with_interval
from unhorse.judge.measure import wilson

COLUMNS = ("method", "given", "clean models", "convicted", "suspicious", "inconclusive", "cleared")

NOTES = ("Of clean models of all suites, heads included. Brackets are 95 % Wilson intervals.",)


def clean_models(results: Sequence[Result], splits: Sequence[str]) -> Sheet:
    """One row for each method and what its scans were given."""
    groups: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for result in results:
        if result.model.poisoned or result.model.split not in splits or not is_first(result):
            continue
        models = groups.setdefault((method_of(result), given_of(result)), {})
        models[result.model.suite, result.model.name] = result.state
    rows = [
        _cells(method, given, Counter(models.values()))
        for (method, given), models in sorted(groups.items())
    ]
    title = f"Clean models, split {' and '.join(splits)}"
    return Sheet("clean", title, COLUMNS, tuple(rows), NOTES)


def _cells(method: str, given: str, states: Counter[str]) -> tuple[str, ...]:
    total = states.total()
    convicted = states["backdoored"]
    return (
        method,
        given,
        str(total),
        with_interval(convicted / total, wilson(convicted, total)),
        share(states["suspicious"], total),
        share(states["inconclusive"], total),
        share(states["nothing_found"], total),
    )
