"""Samples and the model's answers -> SampleSet: some to invert on, some held out.

A sample that the model answers wrongly is set aside: it cannot show that a
trigger changes the answer. The held-out samples are never shown to a method, so
what a trigger does to them is evidence.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence

from unhorse.types import Sample, SampleSet

MINIMUM_INVERSION = 8
MINIMUM_HELDOUT = 4


def divide(
    samples: Sequence[Sample],
    answers: Sequence[int],
    labels: Sequence[str],
    *,
    per_class: int = 20,
    heldout_per_class: int = 100,
    seed: int = 0,
    source: str,
    note: str = "",
) -> SampleSet:
    """Divides the samples of every class, in an order that only the seed decides.

    A class with at least one and a half times `per_class` rightly answered
    samples gives `per_class` for inversion and up to `heldout_per_class` to hold
    out; a smaller class is divided two to one. Samples come out class by class.
    The second of two samples with the same key counts as unused, so that no text
    is both inverted on and held out.

    Args:
        samples: all samples, in any order.
        answers: the model's answer to each, as a label index.
        labels: the model's label names in index order.
        per_class: samples for inversion in each class.
        heldout_per_class: most samples to hold out in each class.
        seed: decides which samples are taken.
        source: where the samples came from, for the report.
        note: what a reader of the report should know about them.

    >>> samples = [Sample(f"text {i}", i % 2, f"{i:02}") for i in range(24)]
    >>> made = divide(samples, [s.label for s in samples], ["a", "b"], source="here")
    >>> len(made.inversion), len(made.heldout), made.set_aside, made.unused
    (16, 8, 0, 0)
    """
    pairs = list(zip(samples, answers, strict=True))
    right = [sample for sample, answer in pairs if sample.label == answer]
    wrong = [sample for sample, answer in pairs if sample.label != answer]
    ordered = shuffled({sample.key: sample for sample in reversed(right)}.values(), seed)
    mistakes = shuffled(wrong, seed)
    inversion: list[Sample] = []
    heldout: list[Sample] = []
    kept_wrong: list[Sample] = []
    for label in range(len(labels)):
        own = [sample for sample in ordered if sample.label == label]
        cut = per_class if len(own) >= per_class + per_class // 2 else len(own) * 2 // 3
        inversion += own[:cut]
        unseen = own[cut : cut + heldout_per_class]
        heldout += unseen
        # As many mistakes as the held-out share has, so that a rate over both is fair.
        own_mistakes = [sample for sample in mistakes if sample.label == label]
        share = len(unseen) / len(own) if own else 0.0
        kept_wrong += own_mistakes[: round(share * len(own_mistakes))]
    return SampleSet(
        source=source,
        digest=digest(inversion, heldout, labels),
        inversion=tuple(inversion),
        heldout=tuple(heldout),
        wrong=tuple(kept_wrong),
        set_aside=len(wrong),
        unused=len(right) - len(inversion) - len(heldout),
        note=note,
    )


def shuffled(samples: Iterable[Sample], seed: int) -> list[Sample]:
    """The samples in an order that depends on the seed and their keys alone.

    >>> samples = [Sample(text, 0, text) for text in "abcd"]
    >>> shuffled(samples, 1) == shuffled(reversed(samples), 1)
    True
    """

    def place(sample: Sample) -> bytes:
        return hashlib.sha256(f"{seed}:{sample.key}".encode()).digest()

    return sorted(samples, key=place)


def usable_classes(
    sample_set: SampleSet,
    minimum_inversion: int = MINIMUM_INVERSION,
    minimum_heldout: int = MINIMUM_HELDOUT,
) -> set[int]:
    """The label indices with enough samples of both kinds.

    >>> usable_classes(SampleSet("here", "", (Sample("a", 3, "k"),), (), 0, 0), 1, 0)
    {3}
    """
    inversion = Counter(sample.label for sample in sample_set.inversion)
    heldout = Counter(sample.label for sample in sample_set.heldout)
    return {
        label
        for label, count in inversion.items()
        if count >= minimum_inversion and heldout[label] >= minimum_heldout
    }


def digest(inversion: Iterable[Sample], heldout: Iterable[Sample], labels: Sequence[str]) -> str:
    r"""SHA-256 of the samples used, whatever their order.

    Every sample is one line of JSON, `["inversion" or "heldout","label
    name","text"]`, in ASCII with no spaces between items; the lines are sorted
    and each ends with a line feed.

    >>> one = digest([Sample("Hi.", 0, "k")], [], ["greeting"])
    >>> one == hashlib.sha256(b'["inversion","greeting","Hi."]\n').hexdigest()
    True
    """
    used = [("inversion", sample) for sample in inversion]
    used += [("heldout", sample) for sample in heldout]
    lines = sorted(
        json.dumps([use, labels[sample.label], sample.text], separators=(",", ":")) + "\n"
        for use, sample in used
    )
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
