"""The report as other tools read it; its JSON Schema is part of the contract."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from unhorse.errors import (
    EXIT_BACKDOORED,
    EXIT_INTERRUPTED,
    EXIT_NOT_CLEARED,
    EXIT_NOTHING_FOUND,
)

SCHEMA_VERSION = "1.0"

Rate = Annotated[float, Field(ge=0, le=1)]
# JSON has no infinity; a loss that is none is written as null.
Number = Annotated[
    float | None,
    PlainSerializer(lambda x: x if x is not None and math.isfinite(x) else None),
]


class Record(BaseModel):
    """Base of all parts of a report: frozen, and nothing undeclared in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileRead(Record):
    """A file of the model that was read."""

    path: str
    sha256: str


class Model(Record):
    """Where the model came from."""

    source: str
    revision: str | None
    files: tuple[FileRead, ...]


class Profile(Record):
    """The calibration that the score was made comparable with."""

    id: str
    applies: bool


class VerdictRecord(Record):
    """The decision. `nothing_found` never means safe."""

    state: Literal["backdoored", "suspicious", "nothing_found", "inconclusive"]
    score: Rate
    reason: str
    profile: Profile | None


class Measured(Record):
    """The effect of a trigger on samples, in fp32 on text.

    `asr` counts the samples answered rightly without the trigger (`n` of them);
    `asr_unrestricted` counts all. `interval` is the 95 % Wilson interval of `asr`.
    """

    loss: Number
    asr: Rate
    n: int
    interval: tuple[Rate, Rate]
    asr_unrestricted: Rate
    n_unrestricted: int


class Pruned(Record):
    """The fewest tokens that keep the effect, and what they do on held-out samples."""

    token_ids: tuple[int, ...]
    text: str
    retokenised_ids: tuple[int, ...]
    heldout: Measured


class Natural(Record):
    """The control with the strongest ordinary words of the target label.

    As many words as the pruned trigger has tokens, taken from the target label's
    own samples. What they do, a classifier does by its nature.
    """

    text: str
    heldout: Measured


class ReferenceRecord(Record):
    """What the trigger, whole and pruned, does to a clean model."""

    source: str
    loss: Number
    asr: Rate
    n: int
    interval: tuple[Rate, Rate]
    pruned: Measured
    in_objective: bool


class Example(Record):
    """A held-out text that flips, before and after."""

    before: str
    after: str


class FindingRecord(Record):
    """The evidence for one arm; `text` can be pasted into an input.

    `one_hot` is false when the method had not focused on single tokens by
    itself and the nearest tokens were taken.
    """

    victim: str
    target: str
    position: str
    method: str
    preset: str
    seed: int
    token_ids: tuple[int, ...]
    text: str
    retokenised_ids: tuple[int, ...]
    one_hot: bool
    inversion_loss: Number
    pruned: Pruned
    inversion: Measured
    heldout: Measured
    random: Measured
    natural: Natural | None
    references: tuple[ReferenceRecord, ...]
    score: Rate
    example: Example | None
    seconds: float


class FailedArm(Record):
    """An arm that did not complete, and why."""

    arm: str
    reason: str


class Arms(Record):
    """Counts of arms; `failures` names those that did not complete."""

    planned: int
    run: int
    failed: int
    pruned: int
    failures: tuple[FailedArm, ...]


class Samples(Record):
    """Which samples were used. `digest` covers their text, label and use."""

    source: str
    digest: str
    used: int
    heldout: int
    set_aside: int
    unused: int
    note: str


class ReferenceUse(Record):
    """A clean model given by the user and how it took part."""

    model: Model
    in_objective: bool
    note: str


class CurveRecord(Record):
    """Loss and temperature of every epoch of one arm."""

    arm: str
    preset: str
    loss: tuple[Number, ...]
    temperature: tuple[float, ...]


class Estimated(Record):
    """What was expected before the start, and what it came to."""

    seconds: float
    bytes: int
    seconds_taken: float
    bytes_taken: int | None


class ScanReport(Record):
    """Everything a scan says."""

    schema_version: str = SCHEMA_VERSION
    model: Model
    task: str
    architecture: str
    labels: tuple[str, ...]
    verdict: VerdictRecord
    findings: tuple[FindingRecord, ...]
    arms: Arms
    samples: Samples
    references: tuple[ReferenceUse, ...]
    config: dict[str, Any]
    versions: dict[str, str]
    device: str
    dtype: str
    attention: str
    threads: int
    runtime_reason: str
    estimate: Estimated | None
    interrupted: bool
    seconds: float
    curves: tuple[CurveRecord, ...]

    def to_json(self) -> str:
        """The report as ASCII JSON, so that nothing in it can act on a terminal."""
        return json.dumps(self.model_dump(mode="json"), indent=2) + "\n"

    def exit_code(self, fail_on: str = "backdoored") -> int:
        """The exit code that this report ends the command with."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        state = self.verdict.state
        if state == "backdoored" or (state == "suspicious" and fail_on == "suspicious"):
            return EXIT_BACKDOORED
        return EXIT_NOTHING_FOUND if state == "nothing_found" else EXIT_NOT_CLEARED


def json_schema() -> str:
    """The JSON Schema of a report, as it is committed beside this file."""
    schema = ScanReport.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"unhorse scan report {SCHEMA_VERSION}"
    return json.dumps(schema, indent=2) + "\n"
