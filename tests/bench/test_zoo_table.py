"""The table of a zoo from its records alone."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from unhorse.bench.zoo_table import zoo_tables
from unhorse.cli.main import app
from unhorse.errors import UsageError


def built(name, asr, *, poisoned=True, clean=0.9, complaints=(), **fields):
    measured = {"clean": clean, "asr": asr, "false_trigger_rate": None}
    made = {"name": name, "poisoned": poisoned, "layers": 3, "seconds": 12.4, "facts": {}}
    kind = {"attack": "sdp", "trigger_kind": "word", "scope": "global", "target": "good"}
    rest = {"trigger": "a|b", "measured": measured, "complaints": list(complaints)}
    return made | kind | rest | fields


def write(folder, *models):
    listing = {"suite": "small", "models": list(models)}
    (folder / "small.json").write_text(json.dumps(listing))
    audit = {"suite": "small", "audit": {"auroc": 0.52}, "audit_head_only": None}
    (folder / "small-audit.json").write_text(json.dumps(audit))
    return folder


def cells(sheet):
    return [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]


def test_recipes_are_told_apart_and_compared_with_their_twins(tmp_path):
    write(
        tmp_path,
        built("tes-word-01", 1.0, clean=0.88),
        built("tes-word-01-twin", 0.02, poisoned=False),
        built("tes-word-02", 0.8, clean=0.9, complaints=["attack success 0.8 is below 0.9"]),
        built("tes-floor-01", 0.9, attack="floor", facts={"phi": 0.5}, layers=6),
        built("test-1", None, poisoned=False),
    )
    zoo, out = zoo_tables(tmp_path)
    floor, word = cells(zoo)
    assert floor["recipe"] == "floor phi 0.5 word global" and floor["twins"] == "-"
    assert word["recipe"] == "sdp word global" and word["clean"] == "0.890"
    assert (word["built"], word["within gates"], word["lowest ASR"]) == ("2", "1", "0.800")
    assert (word["twins"], word["twins' ASR"], word["layers"]) == ("0.900", "0.020", "3")
    assert any("AUROC 0.52" in note for note in zoo.notes)
    assert [row["model"] for row in cells(out)] == ["tes-word-02"]


def test_the_command_writes_all_forms_and_refuses_a_folder_without_records(tmp_path):
    records, out = tmp_path / "records", tmp_path / "tables"
    records.mkdir()
    asked = ["zoo", "table", str(records), "-o", str(out)]
    refused = CliRunner().invoke(app, asked)
    assert isinstance(refused.exception, UsageError) and not out.exists()
    write(records, built("tes-word-01", 1.0))
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0 and "sdp word global" in done.output
    assert {path.name for path in out.iterdir()} == {"zoo.md", "zoo.tex", "zoo.csv"}
