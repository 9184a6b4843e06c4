"""Trojaned models and stored scans -> Cures: what a removal made of each, one file each.

A removal gets what a user would have: the triggers that a scan found, never the true one, as the
profiles of today judge them, and some clean rows. What it reached is measured on the rows that
were kept back when the model was built, beside the clean twin under the same stamps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from unhorse.attack.base import Probes
from unhorse.attack.corpus import read_corpus
from unhorse.attack.measure import measure, success
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import MODEL, RECORD, AttackRecord, read_heldout, read_record
from unhorse.bench.commit import commit_of_package
from unhorse.bench.plan import Unit
from unhorse.bench.rejudge import rejudged
from unhorse.bench.result import (
    Result,
    Scanned,
    Trigger,
    digest_of,
    digest_of_weights,
    read_result,
)
from unhorse.bench.stock import Stock
from unhorse.errors import UnhorseError, UsageError
from unhorse.judge.profile import Profile, shipped_profiles
from unhorse.learn.loop import reproducible
from unhorse.load.divide import shuffled
from unhorse.load.subject import open_model
from unhorse.remove.base import REMOVALS, Case, Removal
from unhorse.remove.metric import row_scores
from unhorse.remove.records import Rows
from unhorse.remove.triggers import FOUND, from_findings, strong
from unhorse.report.versions import versions_used
from unhorse.seeding import python_random
from unhorse.types import LoadedModel, own_answers

USUAL = ""
"""What a scan is given if nothing else is said: a reference and samples."""

VERSION = 4
"""Raised when a change to the removals makes old cures incomparable."""

WATCHED = 0.15
"""The share of the rows that is not learnt from but watched while learning."""


class Cure(BaseModel):
    """One removal: the model before and after, and its twin under the same stamps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: str = "1.0"
    kind: str = "removal"
    model: Scanned
    method: str
    amount: str
    """The share of the training data, or the number of rows, as it was asked for."""
    rows: int
    """Rows that were learnt from or watched."""
    seed: int
    scan: str
    """The method whose findings were removed."""
    given: str = USUAL
    """What that scan was given beside the usual, as its file's name has it."""
    scan_state: str
    """If nothing was found, a method that needs a trigger leaves the model as it is."""
    recovered: bool | None
    """Whether the scan's strongest finding was the true trigger."""
    triggers: tuple[str, ...]
    settings: str
    metric: str
    clean_before: float
    clean_after: float
    clean_n: int
    asr_before: float
    asr_after: float
    asr_n: int
    twin_asr: float | None
    """How often the stamps turn the clean twin."""
    epochs: int
    seconds: float
    """Of the removal itself."""
    scan_seconds: float
    commit: str | None
    versions: dict[str, str]

    @property
    def above_twin(self) -> float | None:
        """What is left of the attack, beyond what the stamps do to a clean model."""
        return None if self.twin_asr is None else self.asr_after - self.twin_asr

    @property
    def drop(self) -> float:
        """What the clean metric lost."""
        return self.clean_before - self.clean_after


@dataclass(frozen=True)
class Amount:
    """How many clean rows a removal is given: a share of the training data, or a count."""

    text: str

    def of(self, available: int) -> int:
        """The number of rows, out of so many.

        >>> Amount("0.1").of(3460), Amount("200").of(3460), Amount("200").of(150)
        (346, 200, 150)
        """
        value = float(self.text)
        return min(available, round(value * available) if value < 1 else int(value))


def parse_amounts(text: str) -> list[Amount]:
    """Amounts from a list with commas.

    >>> [each.text for each in parse_amounts("0.1, 200")]
    ['0.1', '200']
    """
    amounts = []
    for part in (each.strip() for each in text.split(",")):
        try:
            wrong = not float(part) > 0
        except ValueError:
            wrong = True
        if wrong:
            raise UsageError(f"{part!r} is neither a share of the rows nor a number of them.")
        amounts.append(Amount(part))
    return list(dict.fromkeys(amounts))


def parse_removals(text: str) -> list[Removal]:
    """Removal methods from a list with commas; an unknown one is a usage error."""
    return [REMOVALS.get(name.strip()) for name in dict.fromkeys(text.split(","))]


@dataclass(frozen=True)
class Treatment:
    """One removal to be made: after the scan of a unit, by a method, with some rows."""

    unit: Unit
    method: str
    amount: Amount

    def path(self, out: Path, suite: str) -> Path:
        """Where its cure goes."""
        scan = self.unit.asked.label.replace(":", "-")
        name = f"{self.unit.name}-after-{scan}-seed{self.unit.seed}{self.unit.given.suffix}.json"
        return out / suite / f"remove-{self.method}-{self.amount.text}" / name


@dataclass(frozen=True)
class Treated:
    """One treatment and what came of it: a cure, or the reason why there is none."""

    treatment: Treatment
    cure: Cure | None
    made_now: bool = False
    problem: str = ""


def plan_treatments(
    units: Sequence[Unit], methods: Sequence[Removal], amounts: Sequence[Amount]
) -> list[Treatment]:
    """Every removal on every trojaned model, model by model."""
    return [
        Treatment(unit, method.name, amount)
        for unit in units
        if unit.entry.use == "model"
        for amount in amounts
        for method in methods
    ]


@dataclass
class Clinic:
    """Makes treatments one after another from the result files of scans.

    Args:
        stock: the models.
        out: where result files of scans are, and those of cures go.
        base: the checkpoint that all models descend from, for methods that need one.
        options: settings of the removal methods.
        begun: told of every removal before it is made.
        profiles: what decides which findings are strong; the shipped ones if not given.
    """

    stock: Stock
    out: Path
    base: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    begun: Callable[[Treatment], None] = lambda treatment: None
    profiles: tuple[Profile, ...] = field(default_factory=lambda: tuple(shipped_profiles()))

    def run(
        self, treatments: Sequence[Treatment], seconds: float | None = None
    ) -> Iterator[Treated]:
        """Goes through all treatments; one that fails does not end the others."""
        began = time.monotonic()
        for treatment in treatments:
            late = seconds is not None and time.monotonic() - began > seconds
            try:
                yield self._one(treatment, late=late)
            except UnhorseError as error:
                yield Treated(treatment, None, problem=str(error))
            except Exception as error:
                # One removal that breaks must not cost the others.
                yield Treated(treatment, None, problem=f"{type(error).__name__}: {error}")

    def _one(self, treatment: Treatment, *, late: bool) -> Treated:
        unit, suite = treatment.unit, self.stock.place.suite
        scan = read_result(unit.path(self.out, suite))
        if scan is None:
            return Treated(treatment, None, problem="its scan has no result file")
        scan = rejudged(scan, self.profiles)
        settings = self._settings(treatment, scan)
        path = treatment.path(self.out, suite)
        there = read_cure(path)
        here = self.stock.member(unit.name, build=False).record
        if there is not None and there.settings == settings and _is_of(there, here):
            return Treated(treatment, there)
        if late:
            return Treated(treatment, None, problem="there was no time left for it")
        member = self.stock.member(unit.name)
        if member.record is None or not member.accepted:
            return Treated(treatment, None, problem="the model is not built or is kept out")
        if scan.model.digest != digest_of_weights(member.record):
            return Treated(treatment, None, problem="its scan is of another build of the model")
        self.begun(treatment)
        cure = self._treat(treatment, scan, member.record, settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(cure.model_dump_json(indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
        return Treated(treatment, cure, made_now=True)

    def _settings(self, treatment: Treatment, scan: Result) -> str:
        method = REMOVALS.get(treatment.method)
        return digest_of(
            {
                "version": VERSION,
                "config": method.config(**self.options).model_dump(mode="json"),
                "amount": treatment.amount.text,
                "scan": [scan.settings, scan.model.digest, scan.reference_digest],
                "found": [(found.text, found.pruned.text) for found in strong(_found(scan))],
                "base": self.base if method.needs_base else None,
            }
        )

    def _treat(
        self, treatment: Treatment, scan: Result, record: AttackRecord, settings: str
    ) -> Cure:
        method = REMOVALS.get(treatment.method)
        folder = self.stock.place.folder(record.name)
        loaded = open_model(folder / MODEL, None, "cpu")
        heldout, probes = read_heldout(folder, record.task)
        triggers = from_findings(record.task, loaded.labels, _found(scan))
        rows = self._rows(record, loaded, treatment.amount, scan.seed)
        case = Case(loaded, triggers, rows, scan.seed, self.base)
        twin_asr = self._twin_asr(treatment.unit, probes)
        # How a tagger spells the start of an entity is known once it was asked.
        case.task.right(own_answers(loaded), rows.watch)
        after, before, epochs, seconds = record.measured, record.measured, 0, 0.0
        # Questions without an answer count here, as they do in `unhorse remove`.
        clean = kept = row_scores(loaded, heldout).value
        if triggers or not method.needs_triggers:
            began = time.perf_counter()
            with reproducible(case.seed):
                cleaned = method.remove(case, method.config(**self.options))
            seconds = time.perf_counter() - began
            after = measure(cleaned.loaded, heldout, probes)
            kept = row_scores(cleaned.loaded, heldout).value
            epochs = cleaned.taught.epochs if cleaned.taught else 0
        assert before.asr is not None and after.asr is not None
        return Cure(
            model=scan.model,
            method=treatment.method,
            amount=treatment.amount.text,
            rows=len(rows.train) + len(rows.watch),
            seed=scan.seed,
            scan=scan.label,
            given=treatment.unit.given.suffix,
            scan_state=scan.state,
            recovered=scan.recovered,
            triggers=tuple(trigger.text for trigger in triggers),
            settings=settings,
            metric=before.metric,
            clean_before=clean,
            clean_after=kept,
            clean_n=len(heldout),
            asr_before=before.asr,
            asr_after=after.asr,
            asr_n=after.asr_n,
            twin_asr=twin_asr,
            epochs=epochs,
            seconds=seconds,
            scan_seconds=scan.seconds,
            commit=commit_of_package(),
            versions=versions_used(),
        )

    def _rows(self, record: AttackRecord, loaded: LoadedModel, amount: Amount, seed: int) -> Rows:
        """Clean rows of the part of the data that the model learnt from."""
        avoid = [record.trigger] if record.trigger else []
        corpus = read_corpus(record.recipe.data, self.stock.place.data, loaded, record.seed, avoid)
        everything = shuffled([*corpus.train, *corpus.spare], seed)
        drawn = everything[: amount.of(self._learnt(record.recipe, len(everything)))]
        python_random(seed, "watched").shuffle(drawn)
        watched = max(1, round(WATCHED * len(drawn)))
        return Rows(
            source=", ".join(record.recipe.data.train),
            train=tuple(drawn[watched:]),
            watch=tuple(drawn[:watched]),
            heldout=corpus.heldout,
            digest="",
            fields={},
        )

    def _learnt(self, recipe: Recipe, available: int) -> int:
        """How many clean rows the model, or the one that it is derived from, has learnt from."""
        runs = [recipe, self.stock.derived_from(recipe)]
        return max(min(run.data.rows or available, available) for run in runs if run is not None)

    def _twin_asr(self, unit: Unit, probes: Probes | None) -> float | None:
        """How often the model's own stamps turn its clean twin; None if that is not here."""
        folder = self.stock.place.folder(unit.entry.twin) if unit.entry.twin else None
        if probes is None or folder is None or not (folder / RECORD).exists():
            return None
        record = read_record(folder)
        if record.twin_of == unit.name:
            return record.measured.asr
        # A twin that several models share was asked about the stamps of one of them.
        return success(own_answers(open_model(folder / MODEL, None, "cpu")), probes)


def _found(scan: Result) -> Sequence[Trigger]:
    """What a user would take out: the findings of a model that is not cleared."""
    return scan.triggers if scan.state in FOUND else ()


def _is_of(cure: Cure, record: AttackRecord | None) -> bool:
    """Whether a cure is of the model as it is; of one that is not here it is."""
    return record is None or digest_of_weights(record) == cure.model.digest


def read_cure(path: Path) -> Cure | None:
    """A stored cure; one that cannot be read counts as not there."""
    try:
        return Cure.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError):
        return None


def read_cures(folder: Path) -> list[Cure]:
    """All cures under a folder, in the order of their paths."""
    found = (read_cure(path) for path in sorted(folder.rglob("*.json")))
    return [cure for cure in found if cure is not None]
