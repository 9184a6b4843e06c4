"""Rightly and wrongly answered samples -> SampleSet: some to invert on, some held out.

A sample that the model answers wrongly is set aside: it cannot show that a
trigger changes the answer. The held-out samples are never shown to a method, so
what a trigger does to them is evidence.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar

from unhorse.types import Sample, SampleSet

Use = Literal["inversion", "heldout"]
S = TypeVar("S", bound=Sample)

MINIMUM_INVERSION = 8
MINIMUM_HELDOUT = 4

_SHARED = "There are so few contexts that questions held out share them with those inverted on."


def divide(
    right: Sequence[Sample],
    wrong: Sequence[Sample],
    classes: Sequence[str],
    *,
    per_class: int = 20,
    heldout_per_class: int = 100,
    seed: int = 0,
    source: str,
    note: str = "",
    problems: Sequence[str] = (),
) -> SampleSet:
    """Divides the samples of every class, in an order that only the seed decides.

    A class with at least one and a half times `per_class` rightly answered
    samples gives `per_class` for inversion and up to `heldout_per_class` to hold
    out; a smaller class is divided two to one. A sample that serves several
    classes has one use in all of them; the smallest class has its pick first.
    Questions on one context have one use, unless there are too few contexts. The
    second of two samples with the same key counts as unused, so that no text is
    both inverted on and held out.

    Args:
        right: what the model answers rightly, in any order.
        wrong: what it answers wrongly.
        classes: the names of the classes.
        per_class: samples for inversion in each class.
        heldout_per_class: most samples to hold out in each class.
        seed: decides which samples are taken.
        source: where the samples came from, for the report.
        note: what a reader of the report should know about them.
        problems: a sentence for every row that was left out.

    >>> from unhorse.types import TextSample
    >>> samples = [TextSample(f"text {i}", i % 2, f"{i:02}") for i in range(24)]
    >>> made = divide(samples, [], ["a", "b"], source="here")
    >>> len(made.inversion), len(made.heldout), made.set_aside, made.unused
    (16, 8, 0, 0)
    """
    ordered = shuffled({sample.key: sample for sample in reversed(right)}.values(), seed)
    members = [[s for s in ordered if label in s.classes] for label in range(len(classes))]
    uses = _uses(members, per_class, heldout_per_class, lambda sample: sample.group)
    if _poorer(
        uses, alone := _uses(members, per_class, heldout_per_class, lambda s: s.key), members
    ):
        uses, note = alone, f"{note} {_SHARED}".strip()
    inversion = [s for s in ordered if uses.get(s.key) == "inversion"]
    heldout = [s for s in ordered if uses.get(s.key) == "heldout"]
    # A sentence may be right in one entity and wrong in another.
    seen = {sample.group for sample in inversion}
    unseen = [sample for sample in shuffled(wrong, seed) if sample.group not in seen]
    by_class = sorted(range(len(ordered)), key=lambda i: min(ordered[i].classes, default=0))
    place = {ordered[i].key: n for n, i in enumerate(by_class)}
    inversion.sort(key=lambda sample: place[sample.key])
    heldout.sort(key=lambda sample: place[sample.key])
    return SampleSet(
        source=source,
        digest=digest(inversion, heldout, classes),
        inversion=tuple(inversion),
        heldout=tuple(heldout),
        wrong=tuple(_mistakes(unseen, heldout, ordered, len(classes))),
        set_aside=len(wrong),
        unused=len(right) - len(inversion) - len(heldout),
        note=note,
        problems=tuple(problems),
    )


def _uses(
    members: Sequence[list[Sample]],
    per_class: int,
    most_heldout: int,
    group_of: Callable[[Sample], str],
) -> dict[str, Use]:
    """What every sample, by its key, is for; all samples of a group have the same use."""
    uses: dict[str, Use] = {}
    groups: dict[str, Use] = {}
    for own in sorted(members, key=len):
        cut = per_class if len(own) >= per_class + per_class // 2 else len(own) * 2 // 3
        limits: dict[Use, int] = {"inversion": cut, "heldout": most_heldout}
        counts = Counter(uses[sample.key] for sample in own if sample.key in uses)
        for sample in own:
            open_uses = [use for use, most in limits.items() if counts[use] < most]
            if sample.key in uses or not open_uses:
                continue
            use = groups.setdefault(group_of(sample), open_uses[0])
            if use in open_uses:
                uses[sample.key] = use
                counts[use] += 1
    return uses


def _poorer(uses: dict[str, Use], other: dict[str, Use], members: Sequence[list[Sample]]) -> bool:
    """Whether some class has too few samples by these uses and enough by the other ones."""

    def enough(own: list[Sample], by: dict[str, Use]) -> bool:
        counts = Counter(by.get(sample.key) for sample in own)
        return counts["inversion"] >= MINIMUM_INVERSION and counts["heldout"] >= MINIMUM_HELDOUT

    return any(enough(own, other) and not enough(own, uses) for own in members)


def _mistakes(
    wrong: list[Sample], heldout: list[Sample], right: list[Sample], classes: int
) -> list[Sample]:
    """As many mistakes as the held-out share has, so that a rate over both is fair."""
    kept: dict[str, Sample] = {}
    for label in range(classes):
        own = sum(label in sample.classes for sample in right)
        unseen = sum(label in sample.classes for sample in heldout)
        mistakes = [sample for sample in wrong if label in sample.classes]
        share = unseen / own if own else 0.0
        kept |= {s.key: s for s in mistakes[: round(share * len(mistakes))]}
    return list(kept.values())


def shuffled(samples: Iterable[S], seed: int) -> list[S]:
    """The samples in an order that depends on the seed and their keys alone.

    >>> from unhorse.types import TextSample
    >>> samples = [TextSample(text, 0, text) for text in "abcd"]
    >>> shuffled(samples, 1) == shuffled(reversed(samples), 1)
    True
    """

    def place(sample: S) -> bytes:
        return hashlib.sha256(f"{seed}:{sample.key}".encode()).digest()

    return sorted(samples, key=place)


def usable_classes(
    sample_set: SampleSet,
    minimum_inversion: int = MINIMUM_INVERSION,
    minimum_heldout: int = MINIMUM_HELDOUT,
) -> set[int]:
    """The label indices with enough samples of both kinds.

    >>> from unhorse.types import TextSample
    >>> usable_classes(SampleSet("here", "", (TextSample("a", 3, "k"),), (), ()), 1, 0)
    {3}
    """
    inversion = Counter(label for s in sample_set.inversion for label in s.classes)
    heldout = Counter(label for s in sample_set.heldout for label in s.classes)
    return {
        label
        for label, count in inversion.items()
        if count >= minimum_inversion and heldout[label] >= minimum_heldout
    }


def digest(inversion: Iterable[Sample], heldout: Iterable[Sample], classes: Sequence[str]) -> str:
    r"""SHA-256 of the samples used, whatever their order.

    Every sample is one line of JSON: "inversion" or "heldout", then what the
    sample says (label name and text; words and entities; question, context and
    answers), in ASCII with no spaces between items; the lines are sorted and each
    ends with a line feed.

    >>> from unhorse.types import TextSample
    >>> one = digest([TextSample("Hi.", 0, "k")], [], ["greeting"])
    >>> one == hashlib.sha256(b'["inversion","greeting","Hi."]\n').hexdigest()
    True
    """
    used = [("inversion", sample) for sample in inversion]
    used += [("heldout", sample) for sample in heldout]
    lines = sorted(
        json.dumps([use, *sample.record(classes)], separators=(",", ":")) + "\n"
        for use, sample in used
    )
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
