"""The report of a removal as other tools read it; its JSON Schema is part of the contract."""

from __future__ import annotations

import json
from typing import Any, Literal

from unhorse.errors import EXIT_BACKDOORED, EXIT_NOT_CLEARED, EXIT_NOTHING_FOUND
from unhorse.report.schema import Measured, Model, Rate, Record, VerdictRecord

REMOVAL_VERSION = "1.1"


class Value(Record):
    """A metric with its 95 % interval."""

    value: Rate
    interval: tuple[Rate, Rate]


class FallRecord(Record):
    """How much lower the metric is after; the interval is a paired 90 % one.

    `visible` is about the smallest fall that so many rows could have shown.
    """

    value: float
    interval: tuple[float, float]
    visible: float


class CleanMetric(Record):
    """The task's metric on held-out rows without any trigger, before and after."""

    metric: str
    n: int
    before: Value
    after: Value
    fall: FallRecord
    max_drop: float
    """The fall that was allowed, as a share of 1."""
    note: str


class TriggerRecord(Record):
    """What a known trigger did to held-out rows before, and what it does after.

    `origin` is `report` (of a scan), `by hand`, or `re-scan`. `forms` are all texts that
    were stamped for it.
    """

    text: str
    forms: tuple[str, ...]
    victim: str
    target: str
    position: str
    origin: Literal["report", "by hand", "re-scan"]
    control: Rate
    before: Measured
    after: Measured


class TrueTrigger(Record):
    """The trigger that the attack's own record names, on the samples stored beside it."""

    text: str
    victim: str
    target: str
    before: Measured
    after: Measured


class WatchedEpoch(Record):
    """The metric on the watched rows after an epoch: clean, and with a trigger in them."""

    epoch: int
    clean: Rate
    stamped: Rate | None


class Rescan(Record):
    """The scan of the cleaned model, with another seed.

    `rows` says what it saw: held-out rows, all of them where these were too few, or
    unhorse's own texts.
    """

    verdict: VerdictRecord
    seed: int
    rows: Literal["heldout", "all", "own texts"]
    strongest: str | None
    """The text of its strongest finding."""
    seconds: float


class Round(Record):
    """One removal and the scan after it."""

    triggers: tuple[str, ...]
    epochs: int
    kept_epoch: int
    """The epoch whose weights were kept; 0 where nothing was taught."""
    steps: int
    watched: tuple[WatchedEpoch, ...]
    facts: dict[str, Any]
    seconds: float
    rescan: Rescan


class Control(Record):
    """The same model after plain fine-tuning on the same samples, without any stamp.

    It tells what the samples alone would have done. `triggers` are the effects of the known
    triggers, in their order.
    """

    method: str
    clean: Value
    triggers: tuple[Measured, ...]
    true_trigger: Measured | None
    seconds: float


class RemovalSamples(Record):
    """Which samples were used, and for what."""

    source: str
    digest: str
    train: int
    watched: int
    heldout: int
    note: str
    left_out: int
    problems: tuple[str, ...]


class Outcome(Record):
    """`proven`; `failed`: still convicted, or the clean metric fell; `unproven`: not judged."""

    state: Literal["proven", "failed", "unproven"]
    reasons: tuple[str, ...]


class RemovalReport(Record):
    """Everything a removal says."""

    schema_version: str = REMOVAL_VERSION
    model: Model
    task: str
    architecture: str
    labels: tuple[str, ...]
    method: str
    base: str | None
    outcome: Outcome
    clean: CleanMetric
    triggers: tuple[TriggerRecord, ...]
    true_trigger: TrueTrigger | None
    control: Control | None
    """None where the method is the control itself, or where none was asked for."""
    rounds: tuple[Round, ...]
    samples: RemovalSamples
    config: dict[str, Any]
    scan_config: dict[str, Any]
    """The settings of the re-scans, but for their seeds."""
    versions: dict[str, str]
    device: str
    threads: int
    removal_seconds: float
    """The teaching alone, in all rounds."""
    scan_seconds: float | None
    """What the scan that found the backdoor took, by its report."""
    seconds: float

    def to_json(self) -> str:
        """The report as ASCII JSON, so that nothing in it can act on a terminal."""
        return json.dumps(self.model_dump(mode="json"), indent=2) + "\n"

    def exit_code(self) -> int:
        """The exit code that this report ends the command with."""
        codes = {"proven": EXIT_NOTHING_FOUND, "failed": EXIT_BACKDOORED}
        return codes.get(self.outcome.state, EXIT_NOT_CLEARED)


def removal_schema() -> str:
    """The JSON Schema of the report, as it is committed beside this file."""
    schema = RemovalReport.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"unhorse removal report {REMOVAL_VERSION}"
    return json.dumps(schema, indent=2) + "\n"
