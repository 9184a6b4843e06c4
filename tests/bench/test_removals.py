"""Removals in the bench: amounts and Table 2; what needs a zoo is in test_bench.py."""

from __future__ import annotations

import pytest
from tests.bench.made import result

from unhorse.bench.cure import Cure, parse_amounts
from unhorse.bench.table2 import table2
from unhorse.errors import UsageError


@pytest.mark.parametrize("text", ["0", "-3", "many"])
def test_an_amount_is_a_share_or_a_number(text):
    with pytest.raises(UsageError, match="neither a share"):
        parse_amounts(text)


def cure(name, **changes):
    model = result(name).model
    fields = {
        "model": model,
        "method": "unlearn",
        "amount": "0.1",
        "rows": 100,
        "seed": 0,
        "scan": "focus",
        "scan_state": "backdoored",
        "recovered": True,
        "triggers": ("cup",),
        "settings": "s",
        "metric": "accuracy",
        "clean_before": 0.9,
        "clean_after": 0.89,
        "clean_n": 100,
        "asr_before": 1.0,
        "asr_after": 0.06,
        "asr_n": 50,
        "twin_asr": 0.04,
        "epochs": 3,
        "seconds": 10.0,
        "scan_seconds": 40.0,
        "commit": None,
        "versions": {},
    }
    return Cure(**{**fields, **changes})


def test_table_2_tells_proxies_from_recovered_triggers():
    cures = [cure("a"), cure("b", recovered=False, asr_after=0.5), cure("c", amount="200")]
    sheet = table2(cures, ["test"])
    rows = [dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows]
    (both,) = [r for r in rows if r["rows"] == "10%" and r["triggers"] == "all"]
    assert both["models"] == "2" and both["ASR after"] == "0.28" and both["worst"] == "0.46"
    assert both["within 0.2"] == "0.50 (1/2)" and both["time"] == "0.25"
    assert both["clean before"] == "0.900" and both["clean after"] == "0.890"
    assert {r["triggers"] for r in rows} == {"all", "found", "proxy", "recovered"}
    assert table2(cures, ["development"]).rows == ()


def test_models_in_which_nothing_was_found_are_told_apart():
    missed = {"scan_state": "nothing_found", "recovered": None, "triggers": ()}
    untouched = {**missed, "asr_after": 1.0, "seconds": 0.0}
    cures = [cure("a"), cure("a", method="finetune", asr_after=0.4)]
    cures += [cure("b", **untouched), cure("b", method="finetune", asr_after=0.4, **missed)]
    sheet = table2(cures, ["test"])
    rows = [dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows]
    by = {(r["removal"], r["triggers"]): r for r in rows}
    assert by["unlearn after focus", "found"]["ASR after"] == "0.06"
    assert by["unlearn after focus", "all"]["ASR after"] == "0.53"
    assert by["unlearn after focus", "missed"]["time"] == "-"
    assert by["finetune after focus", "all"]["ASR after"] == "0.40"
    assert {r["models"] for r in rows if r["triggers"] == "all"} == {"2"}
