"""The models of a suite as they are now: built when they are asked for, and their references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.attack.build import family_of
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import AttackRecord
from unhorse.errors import UsageError
from unhorse.seeding import stable_seed
from unhorse.types import FileDigest
from unhorse.zoo.build import Place, build_suite
from unhorse.zoo.reference import Kin, check_reference
from unhorse.zoo.state import Member, members_of
from unhorse.zoo.suite import Entry, entries_of, find_suite, parents_of, read_suite

DRAWN_FROM = "calibration"
"""The split whose clean models may be references, beside those that are made for it."""


@dataclass(frozen=True, eq=False)
class Clean:
    """A clean model that may be a reference, with the suite that it belongs to."""

    suite: str
    record: AttackRecord

    @property
    def name(self) -> str:
        """`suite/model`, which is also its folder in a zoo."""
        return f"{self.suite}/{self.record.name}"


@dataclass(frozen=True)
class Planned:
    """A model as its suite plans it, whether it is built or not."""

    suite: str
    recipe: Recipe
    line: tuple[Recipe, ...]
    """The recipes that it descends from, the next first."""
    data: tuple[FileDigest, ...] = ()

    @property
    def name(self) -> str:
        """The model's name."""
        return self.recipe.name

    @property
    def place(self) -> str:
        """`suite/model`."""
        return f"{self.suite}/{self.name}"

    @property
    def poisoned(self) -> bool:
        """Whether it is trojaned."""
        return self.recipe.poisoned

    @property
    def twin_of(self) -> str | None:
        """The trojaned model that it is the clean twin of."""
        return self.recipe.twin_of

    @property
    def tuned_on(self) -> tuple[str, ...]:
        """Nothing: what a model of a suite is derived from is known by name."""
        return ()

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The names of the models that it is derived from."""
        return tuple(recipe.name for recipe in self.line)

    @property
    def family(self) -> str:
        """The independent fine-tuning run that it descends from, as its record will name it."""
        run = None
        for recipe in reversed((self.recipe, *self.line)):
            run = family_of(recipe, run)
        return run or self.name


class Stock:
    """What is built of a suite.

    Args:
        entries: all models of the suite.
        place: where they are.
        beside: the folder of the suite's file, where suites that it derives from may be.
        build: whether a model that is missing is built when it is asked for.
        say: told of every model that was built or could not be.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        place: Place,
        beside: Path | None = None,
        *,
        build: bool = False,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.entries, self.place, self.beside = entries, place, beside
        self.build, self.say = build, say
        self._members: dict[str, Member] = {}
        self._borrowed: dict[str, dict[str, Member]] = {}
        self._entries: dict[str, Sequence[Entry]] = {place.suite: entries}
        self._tried: set[str] = set()

    def member(self, name: str, *, build: bool = True) -> Member:
        """A model of the suite, built now if it is missing and may be."""
        member = self._now()[name]
        if build and self.build:
            # Its gate compares it with its twin, so that one is needed as well.
            twin = (member.entry.twin or "").removeprefix(f"{self.place.suite}/")
            needed = [name, *([twin] if twin in self._now() else [])]
            self._make([each for each in needed if self._now()[each].record is None])
        return self._now()[name]

    def reference(self, subject: Kin, seed: int) -> Clean | None:
        """A clean model that may be compared with this one, drawn by the seed; none if too few.

        All that the suites plan are put into an order that the subject decides, and the seed
        counts along it, so that a draw does not depend on what happens to be built.

        Raises:
            UsageError: one that would have to be known is not built.
        """
        left = seed
        for planned in self._candidates(subject):
            member = self._built(planned)
            if member.record is None:
                raise UsageError(f"{planned.place}, which it would be compared with, is not built")
            if not member.accepted:
                continue
            if left == 0:
                return Clean(planned.suite, member.record)
            left -= 1
        return None

    def named(self, name: str) -> AttackRecord | None:
        """The record of a model by its suite and name, if it is here."""
        suite, _, model = name.partition("/")
        member = self._members_of(suite).get(model)
        return None if member is None else member.record

    def _candidates(self, subject: Kin) -> list[Planned]:
        """The clean models of this suite, and of those it derives from, that it may be drawn."""
        suites = [self.place.suite, *parents_of(self.entries, self.place.suite)]
        found = [
            planned
            for suite in suites
            for planned in self._planned(suite)
            if may_be(subject, planned)
        ]
        return sorted(found, key=lambda one: stable_seed(0, "reference", subject.name, one.place))

    def _planned(self, suite: str) -> Iterator[Planned]:
        for entry in self._entries_of(suite):
            may = entry.use == "reference" or entry.recipe.split == DRAWN_FROM
            if may and not entry.recipe.poisoned:
                yield Planned(suite, entry.recipe, tuple(self._line(entry.recipe)))

    def _line(self, recipe: Recipe) -> Iterator[Recipe]:
        """The zoo's models that a recipe descends from, the next first."""
        parent = self.derived_from(recipe)
        while parent is not None:
            yield parent
            parent = self.derived_from(parent)

    def _built(self, planned: Planned) -> Member:
        if planned.suite == self.place.suite:
            return self.member(planned.name)
        member = self._members_of(planned.suite)[planned.name]
        if member.record is None and self.build:
            self._make_there(planned)
            member = self._members_of(planned.suite)[planned.name]
        return member

    def _members_of(self, suite: str) -> dict[str, Member]:
        if suite == self.place.suite:
            return self._now()
        if suite not in self._borrowed:
            there = Place(self.place.zoo, suite, self.place.data)
            members = members_of(self._entries_of(suite), there)
            self._borrowed[suite] = {member.entry.name: member for member in members}
        return self._borrowed[suite]

    def _make(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._tried]
        self._tried.update(new)
        if new:
            self._build(self.entries, self.place, new)
            self._members = {}

    def _make_there(self, planned: Planned) -> None:
        """Builds a model of a suite that this one derives from."""
        if planned.place not in self._tried:
            self._tried.add(planned.place)
            there = Place(self.place.zoo, planned.suite, self.place.data)
            self._build(self._entries_of(planned.suite), there, [planned.name])
            del self._borrowed[planned.suite]

    def _build(self, entries: Sequence[Entry], place: Place, names: Sequence[str]) -> None:
        for built in build_suite(entries, place, 1, names):
            if not built.skipped:
                came = "failed" if built.problem else "built"
                self.say(f"{came:<13} {built.entry.name} {built.problem}".rstrip())

    def _now(self) -> dict[str, Member]:
        if not self._members:
            members = members_of(self.entries, self.place)
            self._members = {member.entry.name: member for member in members}
        return self._members

    def _entries_of(self, suite: str) -> Sequence[Entry]:
        """The models of this suite, or of one that it derives from."""
        if suite not in self._entries:
            try:
                found = entries_of(read_suite(find_suite(suite, self.beside)), self.beside)
            except UsageError:
                found = []
            self._entries[suite] = found
        return self._entries[suite]

    def derived_from(self, recipe: Recipe) -> Recipe | None:
        """The recipe of the zoo's model that another one is derived from."""
        suite, _, rest = recipe.base.model.partition("/")
        name = rest.partition("/")[0]
        if not (suite and name):
            return None
        return next((e.recipe for e in self._entries_of(suite) if e.name == name), None)


def _alike(ours: Recipe, theirs: Recipe) -> bool:
    """Whether two models have learnt the same data in all weights, or in heads on one body."""
    heads = ours.training.head_only
    if heads != theirs.training.head_only or ours.data.train != theirs.data.train:
        return False
    return not heads or ours.base.model == theirs.base.model


def may_be(subject: Kin, reference: Kin) -> bool:
    """Whether two models are of the same data, heads or not alike, and no relatives."""
    if not _alike(subject.recipe, reference.recipe):
        return False
    try:
        check_reference(subject, reference)
    except UsageError:
        return False
    return True
