"""All models of a suite -> whether cheap statistics alone tell trojaned ones from clean ones.

If they do, the zoo leaks: a detector would be praised for what its builder left behind. A
logistic regression on the statistics is fitted on the calibration split and asked about the
test split: once on the statistics as they are, and once less the mean of all models that
were made in the same way from the same base, because the differences between architectures
hide what differs within each. The worse of the two counts. Any detector is worth what it
adds to this.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from unhorse.errors import UsageError
from unhorse.zoo.statistics import Statistics

LIMIT = 0.65
"""The area under the ROC curve from which on a zoo leaks."""

FIT = "calibration"
ASKED = ("test", "beyond")
"""The splits that are asked about."""

ENOUGH = 2
"""The trojaned and clean models that a split needs for an audit."""


@dataclass(frozen=True)
class Area:
    """How well statistics tell models apart: area under the ROC curve, fitted and held out."""

    fitted: float
    auroc: float
    interval: tuple[float, float]
    fitted_on: int
    asked_about: int
    alone: dict[str, float]
    """The area of every single statistic on the test split, the better of its directions."""


@dataclass(frozen=True)
class Audit:
    """The areas of the statistics as they are, and of those centred on the model's kin."""

    absolute: Area
    centred: Area | None
    """None where no kin has both trojaned and clean models."""

    @property
    def worse(self) -> Area:
        """The one that tells models apart better."""
        both = [area for area in (self.absolute, self.centred) if area is not None]
        return max(both, key=lambda area: area.auroc)

    @property
    def leaks(self) -> bool:
        """Whether the zoo must be mended."""
        return self.worse.auroc > LIMIT


def audits(found: Sequence[Statistics]) -> tuple[Audit | None, Audit | None]:
    """The audit of fully trained models, and that of heads on a frozen body.

    Each is None where a split has too few trojaned or clean models of that kind.
    """
    whole = [s for s in found if not s.head_only]
    heads = [s for s in found if s.head_only]
    return _if_enough(whole), _if_enough(heads)


def _if_enough(found: Sequence[Statistics]) -> Audit | None:
    return audit(found) if lacking(found) is None else None


def lacking(found: Sequence[Statistics]) -> str | None:
    """The split that has too few trojaned or clean models for an audit, if one has."""
    counts = Counter((s.split in ASKED, s.poisoned) for s in found if s.split in (FIT, *ASKED))
    for asked, name in ((False, FIT), (True, "/".join(ASKED))):
        if min(counts[asked, True], counts[asked, False]) < ENOUGH:
            return name
    return None


def audit(found: Sequence[Statistics]) -> Audit:
    """Fits on the calibration split, asks about the test split."""
    short = lacking(found)
    if short is not None:
        raise UsageError(f"The split {short} needs trojaned and clean models for an audit.")
    near = centred(found)
    return Audit(_area(found), None if lacking(near) else _area(near))


def centred(found: Sequence[Statistics]) -> list[Statistics]:
    """Statistics less the mean of their kin; kin of one kind only has nothing to tell apart.

    >>> two = [Statistics(str(p), "test", p, {"drift": 4.0 + p}) for p in (False, True)]
    >>> [s.values["drift"] for s in centred(two)]
    [-0.5, 0.5]
    """
    made = []
    for kin in sorted({(s.split, s.kin) for s in found}):
        own = [s for s in found if (s.split, s.kin) == kin]
        if len({s.poisoned for s in own}) < 2:
            continue
        means = {name: sum(s.values[name] for s in own) / len(own) for name in own[0].values}
        made += [replace(s, values={n: _less(s.values[n], means[n]) for n in means}) for s in own]
    return made


def _less(value: float, mean: float) -> float:
    """The difference, but nothing where it is only a rounding error that would be scaled up.

    >>> _less(0.1 + 0.2, 0.3), _less(3.0, 2.0)
    (0.0, 1.0)
    """
    return 0.0 if math.isclose(value, mean, rel_tol=1e-9) else value - mean


def _area(found: Sequence[Statistics]) -> Area:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    names = sorted(found[0].values)

    def table(splits: Sequence[str]) -> tuple[Any, Any]:
        own = [s for s in found if s.split in splits]
        rows = np.array([[s.values[name] for name in names] for s in own])
        return rows, np.array([s.poisoned for s in own])

    (fit_rows, fit_truth), (rows, truth) = table([FIT]), table(ASKED)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(fit_rows, fit_truth)
    scores = model.predict_proba(rows)[:, 1]
    alone = {}
    for column, name in enumerate(names):
        area = float(roc_auc_score(truth, rows[:, column]))
        alone[name] = max(area, 1 - area)
    fitted = float(roc_auc_score(fit_truth, model.predict_proba(fit_rows)[:, 1]))
    return Area(
        fitted=fitted,
        auroc=float(roc_auc_score(truth, scores)),
        interval=_bootstrap(truth, scores),
        fitted_on=len(fit_truth),
        asked_about=len(truth),
        alone=alone,
    )


def _bootstrap(truth: Any, scores: Any, draws: int = 1000) -> tuple[float, float]:
    """A 95 % interval of the area by drawing models anew."""
    import numpy as np

    generator = np.random.default_rng(0)
    # The area is the share of pairs in which the trojaned model has the higher score.
    apart = scores[:, None] - scores[None, :]
    won = (apart > 0) + 0.5 * (apart == 0)
    areas: list[float] = []
    while len(areas) < draws:
        chosen = generator.integers(0, len(truth), len(truth))
        trojaned, clean = chosen[truth[chosen]], chosen[~truth[chosen]]
        if len(trojaned) and len(clean):
            areas.append(float(won[np.ix_(trojaned, clean)].mean()))
    low, high = np.quantile(areas, [0.025, 0.975])
    return float(low), float(high)
