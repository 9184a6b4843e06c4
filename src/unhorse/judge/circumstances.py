"""Under what a scan was made: what a profile's population is compared with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from unhorse.config import ScanConfig
from unhorse.invert.base import METHODS
from unhorse.invert.pose import Pass
from unhorse.load.subject import OWN_TEXTS
from unhorse.types import Inversion, Subject

EVIDENCE_VERSION = 5
"""Raised when a measurement is new or changes, so that older profiles and results do not hold."""


@dataclass(frozen=True)
class Circumstances:
    """Facts about a scan, its model and its samples.

    `version` is that of the method; `words` is the median length of a sample; `used` and
    `heldout` count samples. `layers` is None where a model's config does not say.
    """

    version: str
    layers: int | None
    labels: int
    words: float
    used: int
    heldout: int
    positions: frozenset[str]
    own_texts: bool = False
    """Whether unhorse wrote the samples itself."""
    distilled: bool = False
    """Whether a reference was made from the model itself."""


def circumstances_of(
    subject: Subject, config: ScanConfig, passes: Sequence[Pass], inversions: Sequence[Inversion]
) -> Circumstances:
    """Those of one scan."""
    samples = subject.samples
    layers = getattr(subject.loaded.model.config, "num_hidden_layers", None)
    return Circumstances(
        version=method_version(config, passes),
        layers=layers if isinstance(layers, int) else None,
        labels=len(subject.loaded.labels),
        words=median([s.size for s in (*samples.inversion, *samples.heldout)] or [0]),
        used=len(samples.inversion),
        heldout=len(samples.heldout),
        positions=frozenset(inversion.arm.position for inversion in inversions),
        own_texts=samples.source == OWN_TEXTS,
        distilled=any(reference.distilled is not None for reference in subject.references),
    )


def method_version(
    config: ScanConfig,
    passes: Sequence[Pass],
    version: int | None = None,
    evidence: int = EVIDENCE_VERSION,
) -> str:
    """A digest of all that decides how hard a method searches, and what is measured then.

    The seed, the samples and the device are not in it: they do not make another method.

    Args:
        config: the scan's configuration.
        passes: what the method is set to do.
        version: that of the method's code; as it is now if not given.
        evidence: that of the measurements.
    """
    now = int(getattr(METHODS.get(config.method), "version", 1))
    return digest(
        {
            "evidence": evidence,
            "method": config.method,
            "version": now if version is None else version,
            "passes": {each.preset: each.config.model_dump(mode="json") for each in passes},
            "budget": config.budget,
            "schedule": config.schedule,
        }
    )


def digest(value: Any) -> str:
    """A short name for plain data.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
