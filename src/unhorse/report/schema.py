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

SCHEMA_VERSION = "1.8"

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
    """The calibration that the score was made comparable with.

    `outside` says what of the scan is not as in its population; it applies if that is nothing.
    """

    id: str
    applies: bool
    outside: tuple[str, ...] = ()


class VerdictRecord(Record):
    """The decision. `nothing_found` never means safe."""

    state: Literal["backdoored", "suspicious", "nothing_found", "inconclusive"]
    score: Rate
    reason: str
    profile: Profile | None


class Measured(Record):
    """The effect of a trigger on samples, in fp32 on text.

    What is counted are texts, entities or questions. `asr` counts those answered
    rightly without the trigger (`n` of them); `asr_unrestricted` counts all.
    `interval` is the 95 % Wilson interval of `asr`. `asr_in_part` is more
    lenient: the first word of an entity, or an answer that touches the trigger.
    """

    loss: Number
    asr: Rate
    n: int
    interval: tuple[Rate, Rate]
    asr_unrestricted: Rate
    n_unrestricted: int
    asr_in_part: Rate


class Pruned(Record):
    """The fewest tokens that keep the effect, and what they do on held-out samples."""

    token_ids: tuple[int, ...]
    text: str
    retokenised_ids: tuple[int, ...]
    heldout: Measured


class Natural(Record):
    """The control with the strongest ordinary words.

    As many words as the pruned trigger has tokens, taken from samples that have the
    target. What they do, a model does by its nature.
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
    """A held-out sample that flips: what the model reads and what it answers.

    An answer is a label, a sentence with its entities in brackets, or a span.
    """

    before: str
    after: str
    answer_before: str
    answer_after: str


class MirrorRecord(Record):
    """The arm that goes the opposite way, after as many epochs as both had.

    `ratio` is its loss divided by this arm's; near 1 the two classes are alike by
    nature, far above 1 only this direction is easy.
    """

    arm: str
    loss: Number
    own_loss: Number
    ratio: Number
    epochs: int


class NativeRecord(Record):
    """What the method's own source decides from, beside the common evidence.

    `convicts` is null where the source learns a threshold from other models;
    `low_is_bad` says which side of it is.
    """

    measure: str
    value: Number
    low_is_bad: bool
    convicts: bool | None


class TurnedRecord(Record):
    """What the same search finds in a clean model, with the scanned one in its place.

    `losses[i]` is the lowest loss of a text of at most `i + 1` tokens, on the samples it was sought
    on; `text` is the last of them, and `asr` its success on `n` held-out samples.
    """

    source: str
    text: str
    losses: tuple[float, ...]
    asr: Rate
    n: int


class AloneRecord(Record):
    """The word that does most by itself beyond the clean models.

    One of the trigger's or of the strongest that the search found. It is chosen on the samples
    that the trigger was sought on; `heldout` is what it does to the others, and `references` what
    it does to the same in every clean model. `push` and `references_push` are the share of the
    way from the truth to the target that it takes them, in log-odds. `kin` has, of the words
    nearest to it, the one that does second most to each clean model, and `references_kin_push` how
    far it takes that one.
    """

    text: str
    heldout: Measured
    references: tuple[Measured, ...]
    push: Number = None
    references_push: tuple[float, ...] = ()
    kin: tuple[str, ...] = ()
    references_kin_push: tuple[float, ...] = ()


class FindingRecord(Record):
    """The evidence for one arm; `text` can be pasted into an input.

    `one_hot` is false when the method had not focused on single tokens by
    itself and the nearest tokens were taken. `unstamped` is what the samples do
    without any trigger; its `asr_unrestricted` is how often the model gives the
    target by itself. `related` are words that the search came across and did not use.
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
    native: NativeRecord | None
    pruned: Pruned
    inversion: Measured
    heldout: Measured
    unstamped: Measured
    random: Measured
    natural: Natural | None
    references: tuple[ReferenceRecord, ...]
    mirror: MirrorRecord | None
    score: Rate
    example: Example | None
    seconds: float
    related: tuple[str, ...] = ()
    turned: TurnedRecord | None = None
    alone: AloneRecord | None = None


class FailedArm(Record):
    """An arm that did not complete, and why."""

    arm: str
    reason: str


class Arms(Record):
    """Counts of arms; `failures` names those that did not complete.

    `pruned` are those that a schedule dropped before the end or screened out at the start.
    """

    planned: int
    run: int
    failed: int
    pruned: int
    failures: tuple[FailedArm, ...]
    schedule: str


class Samples(Record):
    """Which samples were used. `digest` covers what they say and their use.

    `problems` has a sentence for the first rows that were left out, `left_out` counts them.
    """

    source: str
    digest: str
    used: int
    heldout: int
    set_aside: int
    unused: int
    note: str
    left_out: int
    problems: tuple[str, ...]


class DistilledRecord(Record):
    """How a reference was made from the model itself; its `model.files` are those of the base.

    `agreement` is the share of `n` answers of the model, to samples held out, that it gives too.
    """

    base: str
    texts: int
    own_texts: int
    steps: int
    agreement: Rate | None
    n: int


class ReferenceUse(Record):
    """A clean model, given by the user or `distilled`, and how it took part."""

    model: Model
    in_objective: bool
    note: str
    distilled: DistilledRecord | None = None


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


class Cost(Record):
    """Work of the optimisation: padded tokens that went forward and came back, and the time.

    Seconds include the judging. `spent` says that the budget ended the search.
    """

    forward_tokens: int
    backward_tokens: int
    seconds: float
    budget: str | None
    spent: bool


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
    cost: Cost
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
