"""Tables from results made by hand."""

from __future__ import annotations

import csv
import io
import json

from tests.bench.made import own, result

from unhorse.bench.audits import read_audits
from unhorse.bench.group import (
    as_in_the_paper,
    given_of,
    grouped,
    of_today,
    planned_in,
    to_be_shown,
)
from unhorse.bench.result import TrueTrigger
from unhorse.bench.sheet import Sheet
from unhorse.bench.tables import all_tables
from unhorse.report.schema import Profile


def scans(method="dbs", preset="paper", count=4, wrong=0, **fields):
    """Trojaned and clean results of both splits; the losses of trojaned ones are lower."""
    made = []
    for split in ("calibration", "test"):
        for number in range(count):
            for poisoned in (True, False):
                right = number >= wrong
                state = "backdoored" if poisoned == right else "nothing_found"
                made.append(
                    result(
                        f"{split[:3]}-{number}-{poisoned}",
                        split=split,
                        poisoned=poisoned,
                        method=method,
                        preset=preset,
                        state=state,
                        score=0.9 if state == "backdoored" else 0.1,
                        native=own(0.1 if poisoned else 1.0),
                        reference="small/other",
                        **fields,
                    )
                )
    return made


def tables(results, **changes):
    given = {"splits": ["test"], "audits": {}, "suites": None, "against": "dbs:paper", **changes}
    return {sheet.name: sheet for sheet in all_tables(results, **given)}


def row(sheet, **where):
    """The cells of the one row in which these columns have these values, by column."""
    rows = [dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows]
    (found,) = [r for r in rows if all(r[c.replace("_", " ")] == v for c, v in where.items())]
    return found


def test_table_1_has_both_decisions_side_by_side():
    results = [*scans(wrong=1), *scans("uat", None, wrong=3)]
    sheet = tables(results, audits={("small", False): 0.55})["table1"]
    first = row(sheet, method="dbs:paper")
    assert first["paper accuracy"] == "1.00 [1.00, 1.00]" and first["beta"] == "0.55"
    assert first["judge accuracy"].startswith("0.75 [") and first["scans"] == "8 of 8"
    assert first["convicted"] == "0.75 (3/4)" and first["audit AUROC"] == "0.55"
    assert first["true arm"] == "1.00 (4/4)" and first["recovered"] == "-"
    assert row(sheet, method="uat")["judge accuracy"].startswith("0.25 [")
    assert {r[0] for r in sheet.rows} == {"small"}


def test_head_only_models_and_scans_without_a_reference_have_rows_of_their_own():
    heads = [
        r.model_copy(update={"model": r.model.model_copy(update={"head_only": True})})
        for r in scans()
    ]
    alone = [r.model_copy(update={"reference": None, "reference_seed": None}) for r in scans()]
    sheet = tables([*scans(), *heads, *alone])["table1"]
    assert [cells[0] for cells in sheet.rows] == ["small", "small", "small (heads)"]
    assert row(sheet, task="small", given="no reference")["paper accuracy"] == "-"


def test_the_paper_gives_a_reference_for_texts_alone():
    text = result(reference="small/other")
    entities = {"task": "token-classification", "config": {"schedule": "top2"}}
    assert as_in_the_paper(text) and not as_in_the_paper(result())
    assert (
        as_in_the_paper(result(**entities)) and given_of(result(**entities)) == "no reference, top2"
    )
    assert not as_in_the_paper(result(reference="small/other", **entities))
    assert not as_in_the_paper(result(task="token-classification"))


def test_a_partial_table_says_how_much_of_it_is_done(suite_folder):
    sheet = tables(scans(count=1), suites=suite_folder)["table1"]
    assert row(sheet)["scans"] == "2 of 6"
    assert sheet.notes[-1] == "Partial: 2 of 6 scans are done (33%)."


def test_table_3_shares_clean_models_between_floors():
    adaptive = [
        result(f"t{phi}-{i}", standing="adaptive", attack="floor", phi=phi, asr=1 - phi / 2,
               state="backdoored" if phi < 0.5 or i else "suspicious", native=own(phi),
               method="dbs", preset="paper", reference="small/other")
        for phi in (0.1, 0.5)
        for i in range(2)
    ]  # fmt: skip
    clean = [
        result(f"c{i}", standing="adaptive", attack="floor", phi=0.1, poisoned=False,
               state="nothing_found", native=own(2.0), method="dbs", preset="paper",
               reference="small/other")
        for i in range(6)
    ]  # fmt: skip
    sheet = tables([*scans(), *adaptive, *clean])["table3"]
    low, high = row(sheet, phi="0.1"), row(sheet, phi="0.5")
    assert (low["trojaned"], low["clean"], low["judge accuracy"]) == ("2", "6", "1.00")
    assert (high["judge accuracy"], high["ASR"], high["paper accuracy"]) == ("0.75", "0.75", "1.00")


def test_table_4_has_the_learnt_and_the_oracle_threshold():
    full, half = scans(), scans(preset="no-backtracking")
    odd = [
        r.model_copy(update={"triggers": (r.triggers[0].model_copy(update={"native": own(0.02)}),)})
        if r.model.split == "test"
        else r
        for r in scans(preset="no-scaling")
    ]
    sheet = tables([*full, *half, *odd])["table4"]
    assert [cells[1] for cells in sheet.rows] == [
        "without temperature scaling",
        "without backtracking",
        "full",
    ]
    soft = row(sheet, variant="without temperature scaling")
    assert (soft["models"], soft["precision"], soft["recall"], soft["accuracy"]) == (
        "4+4",
        "0.50",
        "1.00",
        "0.50",
    )
    assert soft["oracle accuracy"] == "-", "equal scores have no threshold"
    assert row(sheet, variant="full")["oracle accuracy"] == "1.00"
    assert "table4" not in tables([*full, *half]), "all variants are needed"
    population = full[0].population.model_copy(update={"labels": 4})
    several = [
        r.model_copy(
            update={
                "population": population,
                "model": r.model.model_copy(update={"name": f"four-{r.model.name}"}),
            }
        )
        for r in scans()
    ]
    assert tables([*full, *half, *odd, *several])["table4"].rows == sheet.rows


def test_methods_are_compared_on_the_models_that_both_have_scanned():
    sheet = tables([*scans(count=8), *scans("uat", None, count=7, wrong=6)])["pairs"]
    judged = row(sheet, decision="judge")
    assert (judged["second"], judged["models"], judged["only first"]) == ("uat", "14", "12")
    assert judged["p"] == "0.000488" and row(sheet, decision="paper")["p"] == "1"


def test_repeated_scans_are_compared():
    again = [
        r.model_copy(update={"seed": 1, "state": "suspicious", "score": 0.4}) for r in scans()[-2:]
    ]
    sheet = tables([*scans(), *again])["repeats"]
    assert row(sheet, varied="seed")["agree"] == "0.00 (0/2)"
    assert len(sheet.rows) == 1
    assert row(tables([*scans(), *again])["table1"])["scans"] == "8 of 8", "the first seed counts"


def test_clean_models_of_all_suites_are_pooled():
    more = scans(count=2, suite="other", standing="advanced", wrong=1)
    sheet = tables([*scans(), *more])["clean"]
    found = row(sheet)
    assert (found["clean models"], found["cleared"]) == ("6", "0.83 (5/6)")
    assert found["convicted"] == "0.17 [0.03, 0.56]"


def test_wrong_models_are_told_with_what_was_found():
    sheet = tables(scans(wrong=1))["misses"]
    missed, convicted = (dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows)
    assert (missed["attack"], missed["verdict"]) == ("sdp/word/global", "nothing_found")
    assert (convicted["attack"], convicted["found"], convicted["ASR"]) == ("clean", "cup", "1.00")
    assert "misses" not in tables(scans())


def test_a_table_has_three_forms():
    sheet = Sheet("t", "Accuracy_x", ("a", "b", "c"), (("50 %", "x|y", "1"),), ("a & b",))
    assert "| 50 % | x\\|y | 1 |" in sheet.markdown() and "- a & b" in sheet.markdown()
    assert "50 \\% & x|y & 1 \\\\" in sheet.latex() and "Accuracy\\_x. a \\& b" in sheet.latex()
    assert list(csv.reader(io.StringIO(sheet.csv()))) == [["a", "b", "c"], ["50 %", "x|y", "1"]]
    assert set(sheet.files()) == {"t.md", "t.tex", "t.csv"}


def test_audits_are_read_from_the_files_of_zoo_verify(tmp_path):
    audit = {"suite": "small", "audit": {"auroc": 0.6}, "audit_head_only": None}
    (tmp_path / "a.json").write_text(json.dumps(audit))
    (tmp_path / "b.json").write_text("[1")
    assert read_audits(tmp_path) == {("small", False): 0.6}


def test_the_command_writes_every_form(cli, tmp_path):
    for made in scans():
        path = tmp_path / "results" / f"{made.model.name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(made.to_json())
    code, _, err = cli("tables", tmp_path / "results", "-o", tmp_path / "out")
    assert code == 0 and "Table 1: detection" in err
    made = {p.name for p in (tmp_path / "out").iterdir()}
    assert made == {f"{name}.{e}" for name in ("table1", "clean") for e in ("md", "tex", "csv")}
    code, _, err = cli("tables", tmp_path / "out")
    assert code == 2 and "no result" in err


def test_of_a_method_that_has_changed_only_the_newest_version_counts():
    old, new = result("a", method_version=1), result("b", method_version=2)
    (row,) = grouped([old, new]).values()
    assert [r.model.name for r in row] == ["b"]


def test_old_versions_count_nowhere():
    old = [result(f"c{i}", poisoned=False, method_version=1) for i in range(3)]
    new = result("c3", poisoned=False, state="nothing_found", method_version=2)
    sheet = tables([*old, new])["clean"]
    assert row(sheet)["clean models"] == "1" and row(sheet)["cleared"] == "1.00 (1/1)"


def test_models_that_their_suite_does_not_ask_for_any_more_do_not_count(suite_folder):
    names = [r.name for r in planned_in("small", ["calibration"], suite_folder)][:2]
    made = [result(name, split="calibration") for name in names]
    other = made[1].model.model_copy(update={"recipe": "of another draw"})
    made[1] = made[1].model_copy(update={"model": other})
    assert of_today(made, suite_folder) == made[:1]
    assert of_today(made, None) == made


def test_a_result_without_a_recipe_is_of_the_first_draw(suite_folder, tmp_path):
    (name, *_) = [r.name for r in planned_in("small", ["test"], suite_folder)]
    made = [result(name, split="test")]
    assert of_today(made, suite_folder) == made
    again = tmp_path / "again"
    again.mkdir()
    text = (suite_folder / "small.toml").read_text()
    (again / "small.toml").write_text("draws = { test = 2 }\n" + text)
    assert of_today(made, again) == []


def test_texts_of_more_than_two_classes_have_a_row_of_their_own():
    two = result("a")
    population = two.population.model_copy(update={"labels": 4})
    four = result("b").model_copy(update={"population": population})
    assert [kind.task for kind in grouped([two, four])] == ["small", "small (several classes)"]


def test_seconds_may_be_those_of_a_quiet_run():
    busy, quiet = scans(seconds=90.0), [result("q", method="dbs", preset="paper", seconds=30.0)]
    quiet = [r.model_copy(update={"reference": "small/other"}) for r in quiet]
    assert row(tables(busy)["table1"])["s"] == "90"
    sheet = tables(busy, timings=quiet)["table1"]
    assert row(sheet)["s"] == "30" and any("separate run" in note for note in sheet.notes)
    assert row(tables(scans("uat"), timings=quiet)["table1"])["s"] == "-"


def test_verdicts_of_several_profiles_are_told_apart():
    given = {"applies": True, "outside": ()}
    profiles = [None, Profile(id="p", **given), Profile(id="q", **given)]
    made = [result(f"m{i}", profile=profile) for i, profile in enumerate(profiles)]
    (said,) = [note for note in tables(made)["table1"].notes if "several profiles" in note]
    assert "(p, q, the rule)" in said
    assert not any("several" in note for note in tables(made[1:2])["table1"].notes)


def test_a_figure_shows_one_scan_of_a_model_the_most_like_the_papers():
    alone = result("a", reference=None, reference_seed=None)
    with_one = result("a", reference="small/other")
    others = [result("a", own_samples=False), result("a", budget="quick"), result("a", seed=1)]
    assert to_be_shown([*others, alone, with_one]) == [with_one]


def test_a_recovered_character_is_no_recovered_word():
    planted = TrueTrigger(
        text="cup", position="start", asr=1.0, loss=0.1, pruned="cup", pieces=("cup",)
    )
    results = [
        result(name, trigger_kind=kind, truth=planted)
        for kind, name in (("word", "a"), ("character", "b"))
    ]
    assert all(r.recovered is not None for r in results)
    assert row(tables(results)["table1"])["recovered"].endswith("/1)")


def test_a_partial_table_3_says_so(suite_folder):
    adaptive = result("t", standing="adaptive", attack="floor", phi=0.1, native=own(0.1))
    sheet = tables([adaptive], suites=suite_folder)["table3"]
    assert sheet.notes[-2].startswith("Partial: 1 of ")
