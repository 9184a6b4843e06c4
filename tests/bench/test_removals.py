"""Removals in the bench: what is planned, what a cure records, and Table 2."""

from __future__ import annotations

import pytest
from tests.bench.made import result
from tests.zoo.conftest import SMALL, built_zoo, small  # noqa: F401

from unhorse.bench.cure import (
    Clinic,
    Cure,
    parse_amounts,
    parse_removals,
    plan_treatments,
    read_cures,
)
from unhorse.bench.plan import Asked, plan
from unhorse.bench.result import read_results
from unhorse.bench.run import Runner
from unhorse.bench.stock import Stock
from unhorse.bench.table2 import table2
from unhorse.errors import UsageError
from unhorse.zoo.suite import entries_of

QUICK = {"options": {"epochs": 3, "trigger_length": 3}, "schedule": "top2"}


@pytest.fixture
def stock(built_zoo):  # noqa: F811
    return Stock(entries_of(small()), built_zoo)


@pytest.fixture
def scanned(stock, tmp_path):
    """The units of one trojaned model, with a scan's result that found its trigger."""
    units = plan(stock.entries, [Asked("random")], 1, only=["cal-word-01"])
    (done,) = Runner(stock, tmp_path, QUICK).run(units)
    path = units[0].path(tmp_path, stock.place.suite)
    known = done.result.triggers[0]
    record = stock.member("cal-word-01").record
    found = known.model_copy(
        update={
            "victim": record.victim,
            "target": record.target,
            "score": 0.9,
            "text": record.trigger,
            "pruned": known.pruned.model_copy(update={"text": record.trigger}),
            "recovered": True,
        }
    )
    changed = done.result.model_copy(update={"state": "backdoored", "triggers": (found,)})
    path.write_text(changed.to_json())
    return units


def treated(stock, out, units, methods="unlearn,finetune", amounts="200"):
    planned = plan_treatments(units, parse_removals(methods), parse_amounts(amounts))
    return list(Clinic(stock, out).run(planned))


def test_a_found_trigger_is_unlearnt_and_the_cure_is_kept(stock, scanned, tmp_path):
    unlearnt, tuned = (one.cure for one in treated(stock, tmp_path, scanned))
    assert unlearnt.rows == 200 and unlearnt.triggers == (unlearnt.model.trigger,)
    assert unlearnt.asr_before > 0.9 and unlearnt.asr_after < 0.3
    assert unlearnt.twin_asr == stock.member("cal-word-01-twin").record.measured.asr
    assert tuned.method == "finetune" and tuned.asr_after > unlearnt.asr_after
    assert read_cures(tmp_path) == [tuned, unlearnt]
    assert [r.method for r in read_results(tmp_path)] == ["random"]
    again = treated(stock, tmp_path, scanned)
    assert not any(one.made_now for one in again) and again[0].cure == unlearnt


def test_a_model_without_a_scan_or_without_a_finding_is_named(stock, tmp_path):
    units = plan(stock.entries, [Asked("random")], 1, only=["cal-word-01"])
    (one,) = treated(stock, tmp_path, units, "unlearn")
    assert one.cure is None and "no result file" in one.problem


def test_clean_models_are_not_treated(stock):
    units = plan(stock.entries, [Asked("random")], 1)
    planned = plan_treatments(units, parse_removals("unlearn"), parse_amounts("0.1,200"))
    assert {each.unit.entry.use for each in planned} == {"model"}
    assert len({each.path(stock.place.zoo, "s") for each in planned}) == len(planned)


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
    assert {r["triggers"] for r in rows} == {"all", "proxy", "recovered"}
    assert table2(cures, ["development"]).rows == ()


def test_the_command_removes_what_stored_scans_found(built_zoo, scanned, tmp_path, cli):  # noqa: F811
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    given = ["bench", path, "--zoo", built_zoo.zoo, "-o", tmp_path, "--methods", "random"]
    given += ["--only", "cal-word-01", "--amounts", "100"]
    code, out, err = cli(*map(str, given), "--remove", "finetune")
    assert code == 0 and "removed  cal-word-01 finetune 100  ASR" in out + err
    code, _, err = cli(*map(str, given), "--remove", "nonsense")
    assert code == 2 and "no removal called 'nonsense'" in err
    given[-1] = "none"
    code, _, err = cli(*map(str, given), "--remove", "finetune")
    assert code == 2 and "neither a share" in err
