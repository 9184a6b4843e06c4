"""A recipe and a place -> whether its model is there already, and if not, why not.

A model counts as there if its record has the content that is asked for. Where data or the
base cannot be found, nobody can tell: that is said, and never taken for another content.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from unhorse.attack.bases import base_folder
from unhorse.attack.build import attack_of, content_of, folder_digests
from unhorse.attack.corpus import digest_of, located
from unhorse.attack.generated import TINY, is_generated
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import HELDOUT, MODEL, RECORD, AttackRecord, read_record
from unhorse.errors import UnhorseError, UsageError
from unhorse.load.sample_datasets import is_dataset_name
from unhorse.types import FileDigest

OTHER_RECIPE = "was built from another recipe"


@dataclass(frozen=True)
class Place:
    """Where things are: the zoo's root, the suite's folder in it, and the data."""

    zoo: Path
    suite: str
    data: Path

    def folder(self, name: str) -> Path:
        """The folder of one of the suite's models, or of `suite/name` of another one."""
        return self.zoo / name if "/" in name else self.zoo / self.suite / name

    def side(self, name: str) -> Path:
        """Where a model is built before it takes its name; no model is called like this."""
        return self.zoo / self.suite / ".building" / name


@dataclass(frozen=True)
class Found:
    """What is in the place of a model."""

    record: AttackRecord | None = None
    """Of the model that is asked for, as far as can be told."""
    wrong: str = ""
    """Why what is there does not count."""
    blocked: str = ""
    """What cannot be found, so that nobody can tell the content or build it."""


def standing(recipe: Recipe, place: Place) -> Found:
    """Whether a recipe's model is there; where nobody can tell, recipes alone are compared."""
    content = blocked = ""
    try:
        _look_for_files(recipe, place.data)
        content = content_of(recipe, place.data, base_digests(recipe, place.zoo))
    except (UnhorseError, OSError) as error:
        blocked = str(error)
    folder = place.folder(recipe.name)
    if not (folder / RECORD).is_file():
        return Found(blocked=blocked)
    try:
        record = read_whole(folder)
    except UnhorseError as error:
        return Found(wrong=str(error), blocked=blocked)
    same = record.content == content
    if blocked:
        same = record.recipe.model_dump(mode="json") == recipe.model_dump(mode="json")
    return Found(record, "", blocked) if same else Found(None, OTHER_RECIPE, blocked)


def read_whole(folder: Path) -> AttackRecord:
    """The record of a model of which no file is lost.

    Raises:
        UsageError: the record cannot be read, or a file that it names is not there.
    """
    try:
        record = read_record(folder)
    except UnicodeDecodeError as error:
        raise UsageError(f"{folder / RECORD} is not a record: it is not text.") from error
    for path in (HELDOUT, *(f"{MODEL}/{file.path}" for file in record.files)):
        if not (folder / path).is_file():
            raise UsageError(f"{folder} has lost its {path}.")
    return record


def base_digests(recipe: Recipe, zoo: Path) -> tuple[FileDigest, ...]:
    """The digests of the files that a recipe starts from."""
    if recipe.base.model == TINY:
        return ()
    if _is_built(recipe.base.model) and not Path(located(zoo, recipe.base.model)).is_dir():
        raise UsageError(f"The base {recipe.base.model} is not in {zoo}.")
    folder = base_folder(recipe.base.model, zoo)
    if (folder.parent / RECORD).is_file():
        return read_whole(folder.parent).files
    return _digests(folder, tuple(path.stat().st_mtime_ns for path in sorted(folder.iterdir())))


def _is_built(base: str) -> bool:
    """Whether a base is a model of a zoo, `suite/name/model`.

    >>> _is_built("sentiment/cal-sst2/model"), _is_built("org/name")
    (True, False)
    """
    return base.count("/") > 1 and base.endswith(f"/{MODEL}")


@lru_cache(maxsize=8)
def _digests(folder: Path, state: tuple[int, ...]) -> tuple[FileDigest, ...]:
    """Many families start from the same large folder."""
    return folder_digests(folder)


def _look_for_files(recipe: Recipe, root: Path) -> None:
    """Refuses data that are not there: without them they would count as other data."""
    config = attack_of(recipe)[1]
    own = [name for field in config.files for name in _names(getattr(config, field))]
    for name in (*recipe.data.train, *recipe.data.heldout, *own):
        if is_generated(name) or Path(located(root, name)).exists():
            continue
        if not _on_hub(name):
            raise UsageError(f"The data file {name} cannot be found from {root.resolve()}.")
        if not digest_of(root, name).sha256:
            raise UsageError(f"The hub does not say which revision of {name} there is.")


def _names(setting: Any) -> list[str]:
    return [setting] if isinstance(setting, str) else list(setting or ())


def _on_hub(name: str) -> bool:
    """Whether a name is that of a data set rather than of a file that is not there.

    >>> _on_hub("org/set:part@test"), _on_hub("train.tsv"), _on_hub("org/set-1.0")
    (True, False, True)
    """
    suffix = Path(name).suffix.lstrip(".")
    return is_dataset_name(name) and not suffix.isalpha() and suffix != "iob2"


def default_zoo() -> Path:
    """Where models go if nobody says."""
    from platformdirs import user_cache_path

    return user_cache_path("unhorse") / "zoo"
