"""Label values and label names of others -> indices of the model's own labels.

Guesses are made only where a second reading is impossible; everything else is
None or a UsageError, because samples under wrong labels look like a broken model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unhorse.errors import UsageError

_GENERIC = re.compile(r"label_(\d{1,9})", re.IGNORECASE)
_NUMBER = re.compile(r"([+-]?\d{1,9})(?:\.0*)?")
_NUMBERED = re.compile(r"(\d{1,9})(?:[ _-]*stars?)?", re.IGNORECASE)
_POLARITY = {
    "neg": "negative",
    "negative": "negative",
    "pos": "positive",
    "positive": "positive",
    "neu": "neutral",
    "neutral": "neutral",
}


@dataclass(frozen=True, repr=False)
class DatasetLabel:
    """A label of a dataset that declares its label names, which reads as that name."""

    index: int
    name: str

    def __repr__(self) -> str:
        return repr(self.name)


def label_index(value: object, labels: Sequence[str]) -> int | None:
    """The index of the label that a sample file means, or None if that is unclear.

    The first of these that applies decides:

    1. A `DatasetLabel`: its index if the model's labels are all `LABEL_i`,
       otherwise its name as below.
    2. The name of a label, as it is written, then ignoring case and outer spaces.
    3. A number (3, 3.0, "3") where every label is a number or a star rating: the
       label with that number, and never an index.
    4. A number where the labels are negative and positive in this unusual order
       (positive first): None, because 0 and 1 have two readings.
    5. Any other number: the index.
    6. `LABEL_3`: the index 3.
    7. A star rating ("3 stars") where every label is a number or a star rating.
    8. pos, positive, neg, negative, neu, neutral: the one label that means the
       same; else negative is 0 and positive is 1 in a model of the two labels 0
       and 1, or LABEL_0 and LABEL_1.

    Args:
        value: the raw value from a sample file.
        labels: the model's label names in index order.

    >>> label_index("Sports ", ["world", "sports"]), label_index(1, ["world", "sports"])
    (1, 1)
    >>> label_index(1, ["1", "2"]), label_index("2", ["1 star", "2 stars"])
    (0, 1)
    >>> label_index("pos", ["NEGATIVE", "POSITIVE"]), label_index("joy", ["a", "b"])
    (1, None)
    >>> label_index(1, ["positive", "negative"]) is None
    True
    """
    if isinstance(value, DatasetLabel):
        if _generic(labels):
            return value.index if 0 <= value.index < len(labels) else None
        return label_index(value.name, labels)
    if not isinstance(value, str | int | float):
        return None
    name = str(value).strip()
    found = _named(name, labels)
    if found is not None:
        return found
    number = _number(value)
    if number is not None:
        return _by_number(number, labels)
    generic = _GENERIC.fullmatch(name)
    if generic:
        return int(generic[1]) if int(generic[1]) < len(labels) else None
    return _by_meaning(name, labels)


def match_labels(subject: Sequence[str], reference: Sequence[str]) -> tuple[int, ...]:
    """The reference's index of every label of the subject.

    Names are matched ignoring case and outer spaces, with pos for positive and
    so on. Where both sides have only `LABEL_i` names, equal indices match. Labels
    that only the reference has do no harm.

    Raises:
        UsageError: a label of the subject has no counterpart of its own.

    >>> match_labels(["neg", "pos"], ["Positive", "Neutral", "Negative"])
    (2, 0)
    >>> match_labels(["LABEL_0", "LABEL_1"], ["LABEL_0", "LABEL_1", "LABEL_2"])
    (0, 1)
    """
    if _generic(subject) and _generic(reference):
        found: list[int | None] = [i if i < len(reference) else None for i in range(len(subject))]
    else:
        found = [_counterpart(name, reference) for name in subject]
    matched = tuple(index for index in found if index is not None)
    if len(matched) < len(subject) or len(set(matched)) < len(matched):
        raise UsageError(
            f"The labels of the reference ({_shortened(reference)}) cannot be matched "
            f"to those of the model ({_shortened(subject)})."
        )
    return matched


def _named(name: str, labels: Sequence[str]) -> int | None:
    if name in labels:
        return list(labels).index(name)
    folded = name.strip().casefold()
    return _only(label.strip().casefold() == folded for label in labels)


def _counterpart(name: str, labels: Sequence[str]) -> int | None:
    found = _named(name, labels)
    if found is None and not _GENERIC.fullmatch(name.strip()):
        found = _only(_meaning(label) == _meaning(name) for label in labels)
    return found


def _by_number(number: int, labels: Sequence[str]) -> int | None:
    numbers = _numbers(labels)
    if numbers is not None:
        return _only(own == number for own in numbers)
    if [_meaning(label) for label in labels] == ["positive", "negative"]:
        return None
    return number if 0 <= number < len(labels) else None


def _by_meaning(name: str, labels: Sequence[str]) -> int | None:
    numbers = _numbers(labels)
    rating = _NUMBERED.fullmatch(name)
    if rating:
        return None if numbers is None else _only(own == int(rating[1]) for own in numbers)
    meaning = _meaning(name)
    found = _only(_meaning(label) == meaning for label in labels)
    if found is None and meaning in ("negative", "positive") and len(labels) == 2:
        sign = int(meaning == "positive")
        if _generic(labels):
            return sign
        if numbers is not None and set(numbers) == {0, 1}:
            return numbers.index(sign)
    return found


def _meaning(name: str) -> str:
    """The name without the differences that do not matter."""
    folded = name.strip().casefold()
    rating = _NUMBERED.fullmatch(folded)
    if rating and folded != rating[1]:
        return f"{rating[1]} stars"
    return _POLARITY.get(folded, folded)


def _number(value: str | int | float) -> int | None:
    """The whole number that a value is or spells."""
    spelled = _NUMBER.fullmatch(str(int(value) if isinstance(value, bool) else value).strip())
    return int(spelled[1]) if spelled else None


def _numbers(labels: Sequence[str]) -> list[int] | None:
    """The number of every label, if all of them are numbers or star ratings."""
    found = [_NUMBERED.fullmatch(label.strip()) for label in labels]
    return [int(match[1]) for match in found if match] if all(found) else None


def _generic(labels: Sequence[str]) -> bool:
    return all(_GENERIC.fullmatch(label.strip()) for label in labels)


def _only(matches: Iterable[bool]) -> int | None:
    """Where the one match is; None if there is none or a choice of them."""
    found = [index for index, matched in enumerate(matches) if matched]
    return found[0] if len(found) == 1 else None


def _shortened(labels: Sequence[str], most: int = 6, width: int = 40) -> str:
    shown = [repr(name if len(name) <= width else name[:width] + "...") for name in labels[:most]]
    more = len(labels) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
