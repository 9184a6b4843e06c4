"""The models of a suite as they are now: built when they are asked for, and their references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.attack.recipe import Recipe
from unhorse.attack.record import AttackRecord
from unhorse.errors import UsageError
from unhorse.seeding import stable_seed
from unhorse.zoo.build import Place, build_suite
from unhorse.zoo.reference import check_reference
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
        self._borrowed: list[Clean] | None = None
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

    def reference(self, subject: AttackRecord, seed: int, *, build: bool = True) -> Clean | None:
        """A clean model that may be compared with this one, drawn by the seed."""
        if build and self.build and not allowed(subject, self._clean()):
            made_for = [e.name for e in self.entries if _made_for(e, subject.recipe)]
            self._make(made_for)
        return draw(subject, self._clean(), seed)

    def named(self, name: str) -> AttackRecord | None:
        """The record of a clean model by its suite and name, if it is here."""
        found = (clean.record for clean in self._clean() if clean.name == name)
        return next(found, None)

    def _make(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._tried]
        self._tried.update(new)
        if not new:
            return
        for built in build_suite(self.entries, self.place, 1, new):
            if not built.skipped:
                came = "failed" if built.problem else "built"
                self.say(f"{came:<13} {built.entry.name} {built.problem}".rstrip())
        self._members = {}

    def _now(self) -> dict[str, Member]:
        if not self._members:
            members = members_of(self.entries, self.place)
            self._members = {member.entry.name: member for member in members}
        return self._members

    def _clean(self) -> list[Clean]:
        """All built models, of this suite and of those it derives from, that may be drawn."""
        if self._borrowed is None:
            suites = parents_of(self.entries, self.place.suite)
            self._borrowed = [clean for suite in suites for clean in self._borrow(suite)]
        own = [clean for m in self._now().values() for clean in _drawn_from(self.place.suite, m)]
        return [*own, *self._borrowed]

    def _borrow(self, suite: str) -> list[Clean]:
        there = Place(self.place.zoo, suite, self.place.data)
        members = members_of(self._entries_of(suite), there)
        return [clean for member in members for clean in _drawn_from(suite, member)]

    def _entries_of(self, suite: str) -> Sequence[Entry]:
        """The models of a suite that this one derives from."""
        try:
            return entries_of(read_suite(find_suite(suite, self.beside)), self.beside)
        except UsageError:
            return []

    def derived_from(self, recipe: Recipe) -> Recipe | None:
        """The recipe of the zoo's model that another one is derived from."""
        suite, _, rest = recipe.base.model.partition("/")
        name = rest.partition("/")[0]
        if not (suite and name):
            return None
        entries = self.entries if suite == self.place.suite else self._entries_of(suite)
        return next((entry.recipe for entry in entries if entry.name == name), None)


def _drawn_from(suite: str, member: Member) -> list[Clean]:
    """The model, if it is clean and made to be a reference or a calibration model."""
    record = member.record
    if record is None or not member.accepted or record.poisoned:
        return []
    may = member.entry.use == "reference" or record.split == DRAWN_FROM
    return [Clean(suite, record)] if may else []


def _made_for(entry: Entry, recipe: Recipe) -> bool:
    """Whether an entry is made to be the reference of models of such a recipe."""
    return entry.use == "reference" and _alike(entry.recipe, recipe)


def _alike(ours: Recipe, theirs: Recipe) -> bool:
    """Whether two models have learnt the same data in all weights, or in heads on one body."""
    heads = ours.training.head_only
    if heads != theirs.training.head_only or ours.data.train != theirs.data.train:
        return False
    return not heads or ours.base.model == theirs.base.model


def allowed(subject: AttackRecord, candidates: Sequence[Clean]) -> list[Clean]:
    """Those of the same data, and head-only or not alike, that may be its reference."""
    return [clean for clean in candidates if _may_be(subject, clean.record)]


def _may_be(subject: AttackRecord, reference: AttackRecord) -> bool:
    if not _alike(subject.recipe, reference.recipe):
        return False
    try:
        check_reference(subject, reference)
    except UsageError:
        return False
    return True


def draw(subject: AttackRecord, candidates: Sequence[Clean], seed: int) -> Clean | None:
    """One of the allowed ones, another one for every seed; none if there are not so many.

    The candidates are put into an order that the model decides, and the seed counts along
    it. One that is built later changes the draw only where it comes before the drawn one.
    """
    order = sorted(
        allowed(subject, candidates),
        key=lambda clean: stable_seed(0, "reference", subject.name, clean.name),
    )
    return order[seed] if seed < len(order) else None
