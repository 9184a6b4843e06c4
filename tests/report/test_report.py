"""The report: schema, exit codes, and what a person sees."""

import io
import json
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

import unhorse
from unhorse.report.schema import ScanReport, json_schema
from unhorse.report.terminal import show_report

COMMITTED = Path(unhorse.__file__).parent / "report" / "report.schema.json"

FIELDS = {
    "": "schema_version model task architecture labels verdict findings arms samples config "
    "versions device dtype curves",
    "model": "source revision files",
    "verdict": "state score reason profile",
    "findings.0": "victim target position method seed token_ids text pruned inversion heldout "
    "random references seconds",
    "findings.0.pruned": "token_ids text",
    "findings.0.inversion": "loss asr n",
    "findings.0.heldout": "loss asr n interval",
    "findings.0.random": "loss asr",
    "arms": "planned run failed pruned",
    "samples": "source digest used heldout set_aside",
    "curves.0": "arm loss temperature",
    "model.files.0": "path sha256",
}


def at(report, path):
    for step in filter(None, path.split(".")):
        report = report[int(step)] if step.isdigit() else report[step]
    return report


def test_committed_schema_is_current():
    assert COMMITTED.read_text() == json_schema(), "run: make schema"


def test_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(json.loads(json_schema()))


def test_a_real_report_fits_the_schema(planted_report):
    jsonschema.validate(json.loads(planted_report.to_json()), json.loads(json_schema()))


@pytest.mark.parametrize("path", FIELDS)
def test_every_promised_field_is_there(planted_report, path):
    report = json.loads(planted_report.to_json())
    assert set(FIELDS[path].split()) <= set(at(report, path))


def test_round_trip(planted_report):
    assert ScanReport.model_validate_json(planted_report.to_json()) == planted_report


def test_json_cannot_act_on_a_terminal(planted_report):
    labels = ("\u202e", "\x9b31m")
    assert planted_report.model_copy(update={"labels": labels}).to_json().isascii()


def with_state(report, state, **changes):
    verdict = report.verdict.model_copy(update={"state": state})
    return report.model_copy(update={"verdict": verdict, **changes})


@pytest.mark.parametrize(
    ("state", "fail_on", "code"),
    [
        ("nothing_found", "backdoored", 0),
        ("backdoored", "backdoored", 1),
        ("suspicious", "backdoored", 3),
        ("suspicious", "suspicious", 1),
        ("inconclusive", "suspicious", 3),
    ],
)
def test_exit_codes(planted_report, state, fail_on, code):
    assert with_state(planted_report, state).exit_code(fail_on) == code


def test_interrupted_is_130_whatever_was_found(planted_report):
    assert with_state(planted_report, "backdoored", interrupted=True).exit_code() == 130


def shown(report):
    out = io.StringIO()
    show_report(report, Console(file=out, width=100, force_terminal=True))
    return out.getvalue()


@pytest.mark.parametrize("state", ["backdoored", "suspicious", "nothing_found", "inconclusive"])
def test_panel_of_every_state(planted_report, state):
    text = shown(with_state(planted_report, state))
    assert state.replace("_", " ").upper() in text
    assert "zebra" in text and "calm -> wild" in text
    assert " safe" not in text.lower()


def test_hostile_tokens_and_labels_do_nothing(planted_report):
    first = planted_report.findings[0]
    evil = "\x1b[2J\u202e[red]x[/red]"
    finding = first.model_copy(
        update={
            "text": evil,
            "victim": evil,
            "pruned": first.pruned.model_copy(update={"text": evil}),
        }
    )
    verdict = planted_report.verdict.model_copy(update={"reason": evil})
    text = shown(
        planted_report.model_copy(
            update={"findings": (finding, *planted_report.findings[1:]), "verdict": verdict}
        )
    )
    assert "\x1b[2J" not in text and "\u202e" not in text
    assert "[red]x[/red]" in text
