"""A Hugging Face dataset name -> records, read through the optional `datasets`."""

from __future__ import annotations

import importlib
import re
from typing import Any

from unhorse.errors import UsageError
from unhorse.load.labels import DatasetLabel
from unhorse.load.sample_fields import Record

MAX_ROWS = 4000
SHUFFLED_ROWS = 50_000
"""How many rows are drawn from; a dataset sorted by label starts with one class only."""

_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?)"
    r"(?::(?P<config>[\w.+-]+))?(?:@(?P<split>[\w.-]+))?"
)
_SPLITS = ("validation", "test", "train")


def is_dataset_name(source: str) -> bool:
    """Whether a source has the form of a dataset name.

    >>> [is_dataset_name(source) for source in ("imdb", "org/set:part@test", "./imdb", "a/b/c")]
    [True, True, False, False]
    """
    return _NAME.fullmatch(source) is not None


def dataset_records(source: str) -> list[Record]:
    """At most `MAX_ROWS` rows of a dataset, always the same ones.

    The dataset is streamed, so that a large one is not downloaded whole, and its
    own code is never run. A label whose names the dataset declares becomes a
    `DatasetLabel`, also within a list of labels.

    Args:
        source: `name`, `org/name`, and optionally `:config` and `@split` after it.
    """
    parts = _NAME.fullmatch(source)
    if parts is None:
        raise UsageError(f"{source!r} is not the name of a dataset.")
    try:
        datasets = importlib.import_module("datasets")
    except ImportError:
        raise UsageError(
            f"{source!r} is not a file or folder here, and reading it as a Hugging Face "
            "dataset needs `pip install 'unhorse[datasets]'`."
        ) from None
    try:
        splits = datasets.load_dataset(
            parts["name"], parts["config"], streaming=True, trust_remote_code=False
        )
        split = _split(source, list(splits), parts["split"])
        stream = splits[split]
        rows = list(stream.shuffle(seed=0, buffer_size=SHUFFLED_ROWS).take(MAX_ROWS))
    except UsageError:
        raise
    except Exception as error:  # the library and what it stands on raise errors of many kinds
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200].rstrip(".")
        raise UsageError(
            f"{source!r} is not a file or folder here and could not be loaded as a Hugging Face "
            f"dataset: {reason}."
        ) from None
    names = _declared_names(stream)
    base = source.partition("@")[0]
    return [
        (f"{base}@{split} row {number}", _with_names(row, names))
        for number, row in enumerate(rows, 1)
    ]


def _split(source: str, have: list[str], asked: str | None) -> str:
    for name in _SPLITS if asked is None else (asked,):
        if name in have:
            return name
    if asked is None and len(have) == 1:
        return have[0]
    wanted = "validation, test or train" if asked is None else repr(asked)
    raise UsageError(f"{source!r} has no split {wanted}; its splits are: {', '.join(have)}.")


def _declared_names(stream: Any) -> dict[str, list[str]]:
    """Label names by field, for the fields of a dataset that have a fixed set of them."""
    features = getattr(stream, "features", None) or {}
    found = {field: _names(feature) for field, feature in features.items()}
    return {field: [str(name) for name in names] for field, names in found.items() if names}


def _names(feature: Any) -> Any:
    """The label names of a feature, or of the items of a feature that is a list."""
    items = getattr(feature, "feature", None)
    return getattr(feature, "names", None) or getattr(items, "names", None)


def _with_names(row: dict[str, Any], names: dict[str, list[str]]) -> dict[str, Any]:
    named = {field: _named(row[field], known) for field, known in names.items() if field in row}
    return {**row, **named}


def _named(value: Any, known: list[str]) -> Any:
    """A label, or each label of a list, with its name.

    >>> _named([0, 1, 7], ["O", "B-PER"])
    ['O', 'B-PER', 7]
    """
    if isinstance(value, list):
        return [_label(item, known) for item in value]
    return _label(value, known)


def _label(value: Any, known: list[str]) -> Any:
    if isinstance(value, int) and 0 <= value < len(known):
        return DatasetLabel(value, known[value])
    return value
