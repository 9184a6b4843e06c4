"""`unhorse bench`: what is planned, that results are kept and not made twice, and the table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bench.made import own, result
from tests.zoo.conftest import SMALL, built_zoo, small  # noqa: F401

from unhorse.bench.cure import Clinic, parse_amounts, parse_removals, plan_treatments, read_cures
from unhorse.bench.group import as_in_the_paper, given_of
from unhorse.bench.handed import handed
from unhorse.bench.metrics import auroc
from unhorse.bench.plan import Asked, Given, parse_methods, plan
from unhorse.bench.result import Result, read_result, read_results, weights_digest
from unhorse.bench.run import Runner
from unhorse.bench.stock import Stock, may_be
from unhorse.bench.table import markdown, rows_of
from unhorse.errors import UsageError
from unhorse.judge.measure import wilson
from unhorse.progress import ScanProgress
from unhorse.types import Entity, QuestionSample, TaggedSample, TextSample
from unhorse.zoo.build import Place
from unhorse.zoo.suite import entries_of

QUICK = {"options": {"epochs": 3, "trigger_length": 3}, "schedule": "top2"}


@pytest.fixture
def stock(built_zoo):  # noqa: F811
    return Stock(entries_of(small()), built_zoo)


def units_of(stock, use, asked="random", seeds=1, given=None):
    chosen = [e for e in stock.entries if e.use == use]
    return plan(chosen, [Asked(asked)], seeds, given=given)


def test_methods_are_read_with_their_presets():
    assert parse_methods("dbs, dbs:paper,dbs") == [Asked("dbs"), Asked("dbs", "paper")]
    for text, sentence in (("nonsense", "no method called"), ("dbs:fast", "no preset 'fast'")):
        with pytest.raises(UsageError, match=sentence):
            parse_methods(text)


def test_only_models_and_twins_are_scanned(stock):
    units = plan(stock.entries, [Asked("random"), Asked("dbs")], seeds=2)
    assert {unit.entry.use for unit in units} == {"model", "twin"}
    assert len(units) == 3 * 2 * 2
    assert plan(stock.entries, [Asked("dbs")], 1, ["test"]) == []
    assert len(plan(stock.entries, [Asked("dbs")], 1, (), ["cal-word-02"])) == 1


def test_what_a_scan_is_given_tells_its_file_from_others(stock, tmp_path):
    paths = {
        units_of(stock, "twin", given=given)[0].path(tmp_path, "small").name
        for given in (
            Given(),
            Given(1),
            Given(None),
            Given(None, distilled=True),
            Given(0, samples=False),
        )
    }
    assert len(paths) == 5 and "cal-word-01-twin-seed0.json" in paths


def test_a_method_that_is_not_for_the_task_is_left_out(stock, monkeypatch):
    from unhorse.invert.base import METHODS

    monkeypatch.setattr(METHODS.get("random"), "tasks", ("question-answering",), raising=False)
    assert plan(stock.entries, [Asked("random")], 1) == []


def test_a_reference_is_clean_and_of_another_family_and_drawn_by_seed(stock):
    record = stock.member("cal-word-01").record
    drawn = stock.reference(record, 0)
    assert drawn.name == "small/other"
    assert stock.reference(record, 1) is None, "there is no other"


def test_a_draw_does_not_depend_on_what_is_built(stock, built_zoo, tmp_path, monkeypatch):  # noqa: F811
    record = stock.member("cal-word-01").record
    (planned,) = stock._candidates(record)
    many = [replace(planned, recipe=planned.recipe.model_copy(update={"name": n})) for n in "abcd"]
    monkeypatch.setattr(Stock, "_planned", lambda self, suite: iter(many))
    order = [one.name for one in stock._candidates(record)]
    assert sorted(order) == list("abcd")
    monkeypatch.setattr(Stock, "_planned", lambda self, suite: iter(many[::-1]))
    assert [one.name for one in stock._candidates(record)] == order
    gone = Stock(stock.entries, Place(tmp_path, "small", built_zoo.data))
    monkeypatch.undo()
    with pytest.raises(UsageError, match="small/other, which it would be compared with"):
        gone.reference(record, 0)


def test_a_head_is_compared_with_heads_on_its_own_body(stock):
    def head(record, body):
        training = record.recipe.training.model_copy(update={"head_only": True})
        base = record.recipe.base.model_copy(update={"model": body})
        changes = {"training": training, "base": base}
        return record.model_copy(update={"recipe": record.recipe.model_copy(update=changes)})

    record = stock.member("cal-word-01").record
    clean = stock.reference(record, 0).record
    subject = head(record, "small/body/model")
    assert may_be(subject, head(clean, "small/body/model"))
    assert not may_be(subject, head(clean, "small/another/model"))
    assert not may_be(record, stock.member("cal-word-02").record), "it is trojaned"


def test_results_are_kept_and_not_made_again(stock, tmp_path):
    units = units_of(stock, "twin")
    runner = Runner(stock, tmp_path, QUICK)
    (first,) = runner.run(units)
    if first.result is None:
        pytest.fail(first.problem)
    assert first.made_now and first.result.model.poisoned is False
    assert first.result.reference == "small/other" and first.result.truth is None
    path = units[0].path(tmp_path, "small")
    stored = path.read_text()
    assert str(stock.place.zoo) not in stored, "no path of this machine"
    (again,) = runner.run(units)
    assert not again.made_now and again.result == first.result and path.read_text() == stored
    assert read_results(tmp_path) == [first.result]
    (late,) = Runner(stock, tmp_path / "b", {**QUICK, "samples_per_class": 10}).run(units, -1.0)
    assert late.problem == "there was no time left for it"
    (changed,) = Runner(stock, tmp_path, {**QUICK, "samples_per_class": 10}).run(units)
    assert "has a result with other settings" in changed.problem and path.read_text() == stored
    (elsewhere,) = Runner(stock, tmp_path / "b", {**QUICK, "samples_per_class": 10}).run(units)
    assert elsewhere.made_now
    assert elsewhere.result.settings != first.result.settings
    path.write_text(stored[: len(stored) // 2])
    assert read_result(path) is None


def test_a_bar_belongs_to_one_scan_and_ends_with_it(stock, tmp_path):
    told = []

    class Bar(ScanProgress):
        def __init__(self, unit):
            self.unit = unit

        def loading(self):
            told.append((self.unit.name, "loading"))

        def close(self):
            told.append((self.unit.name, "closed"))

    units = units_of(stock, "twin")
    list(Runner(stock, tmp_path, QUICK, Bar).run(units))
    assert told[0] == (units[0].name, "loading") and told[-1] == (units[0].name, "closed")
    told.clear()
    list(Runner(stock, tmp_path, QUICK, Bar).run(units))
    assert not told, "what is there already is not scanned"


def test_a_scan_may_make_its_reference_itself(stock, tmp_path):
    units = units_of(stock, "twin", given=Given(None, distilled=True))[:1]
    runner = Runner(stock, tmp_path, {**QUICK, "base": "tiny"})
    (made,) = runner.run(units)
    assert made.result.is_distilled and given_of(made.result) == "distilled reference, top2"
    assert made.result.reference_digest is None and not as_in_the_paper(made.result)
    assert {r.source for t in made.result.triggers for r in t.references} == {"distilled"}
    (again,) = runner.run(units)
    assert not again.made_now


@pytest.mark.parametrize("where", ["model.digest", "reference_digest", "reference"])
def test_a_result_of_another_model_or_reference_is_made_again(
    where,
    stock,
    built_zoo,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    units = units_of(stock, "twin")
    runner = Runner(stock, tmp_path, QUICK)
    list(runner.run(units))
    path = units[0].path(tmp_path, "small")
    data = json.loads(path.read_text())
    *inside, last = where.split(".")
    (data[inside[0]] if inside else data)[last] = None if where == "reference" else "another"
    path.write_text(json.dumps(data))
    monkeypatch.setattr(runner, "_scan", lambda job: Result.model_validate(data))
    (redone,) = runner.run(units)
    assert redone.made_now


def test_result_files_alone_are_enough_to_go_on(stock, built_zoo, tmp_path):  # noqa: F811
    units = units_of(stock, "twin")
    (made,) = Runner(stock, tmp_path / "out", QUICK).run(units)
    elsewhere = Stock(stock.entries, Place(tmp_path / "no-zoo", "small", Path()))
    (found,) = Runner(elsewhere, tmp_path / "out", QUICK).run(units)
    assert found.result == made.result and not found.made_now
    entry = replace(units[0].entry, recipe=units[0].entry.recipe.model_copy(update={"seed": 9}))
    (other,) = Runner(elsewhere, tmp_path / "out", QUICK).run([replace(units[0], entry=entry)])
    assert other.result is None, "a result of an old recipe does not stand"


def test_what_is_planted_is_in_the_result_of_a_trojaned_model(stock, tmp_path):
    units = [u for u in units_of(stock, "model") if stock.member(u.name).accepted]
    assert units, "the small suite has no trojaned model within its gates"
    (made,) = Runner(stock, tmp_path, QUICK).run(units[:1])
    found = made.result
    assert found is not None, made.problem
    assert found.truth is not None and found.truth.asr > 0.5 and found.truth.pieces
    assert found.recovered in (True, False)
    assert {t.true_arm for t in found.triggers} <= {True, False}
    assert found.curves and len(found.curves[0].loss) == 3


def test_a_model_that_is_not_built_is_reported(stock, tmp_path):
    empty = Stock(stock.entries, Place(tmp_path, "small", Path()))
    found = list(Runner(empty, tmp_path / "out").run(units_of(empty, "model")))
    assert [f.problem for f in found] == ["the model is not built"] * 2


def test_a_missing_model_is_built_with_what_it_needs_just_before_its_scan(
    stock, tmp_path, monkeypatch
):
    asked = []

    def build(entries, place, workers, only):
        asked.append(sorted(only))
        return iter(())

    monkeypatch.setattr("unhorse.bench.stock.build_suite", build)
    empty = Stock(stock.entries, Place(tmp_path, "small", Path()), build=True)
    chosen = [e for e in stock.entries if e.name == "cal-word-01"]
    list(Runner(empty, tmp_path / "out").run(plan(chosen, [Asked("random")], 2)))
    assert asked == [["cal-word-01", "cal-word-01-twin"]], "once, and only what is asked for"


def test_half_a_scan_is_no_result(stock, tmp_path, monkeypatch):
    """Ctrl-C ends a scan early with a report; that must not count as one."""
    from unhorse.invert.methods.random import Draws

    def interrupted(self, arms):
        raise KeyboardInterrupt

    monkeypatch.setattr(Draws, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(Runner(stock, tmp_path, QUICK).run(units_of(stock, "twin")))
    assert list(tmp_path.rglob("*.json")) == []


def test_a_scan_that_breaks_does_not_end_the_others(stock, tmp_path, monkeypatch):
    from unhorse.invert.methods.random import Draws

    def broken(self, arms):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Draws, "step", broken)
    found = list(Runner(stock, tmp_path, QUICK).run(units_of(stock, "twin", seeds=2)))
    assert [f.problem for f in found] == ["ZeroDivisionError: oh"] * 2


def test_the_table_counts_only_sure_verdicts_as_right():
    results = [
        result("a"),
        result("b", state="suspicious", score=0.4),
        result("c", poisoned=False, state="nothing_found", score=0.1),
        result("d", poisoned=False, state="suspicious", score=0.5),
    ]
    (row,) = rows_of(results, {"dbs": 6, "uat": 6})
    assert (row.done, row.planned, row.accuracy, row.found, row.cleared) == (4, 6, 0.5, 0.5, 0.5)
    assert row.auroc == 0.75 and row.megatokens == 4.0
    assert "| dbs | 4 of 6 | 0.50 |" in markdown([row])
    assert markdown([row], "Shortcut audit: 0.52.").endswith("|\n\nShortcut audit: 0.52.\n")


def test_the_methods_own_measure_may_go_either_way():
    low = [result("a", native=own(0.1)), result("b", poisoned=False, native=own(2.0))]
    high = [result("a", native=own(0.9, False)), result("b", poisoned=False, native=own(0, False))]
    none = [result("a", native=own(0.2)), result("b", poisoned=False, native=own(None))]
    for results in (low, high, none):
        assert rows_of(results, {"dbs": 2})[0].own_auroc == 1.0
    assert auroc([True, True], [0.1, 0.2]) is None


def test_stored_samples_are_handed_over_as_a_user_would():
    text = TextSample("it rains", 1, "k")
    words = TaggedSample(("in", "New", "York"), (Entity(1, 3, 1),), "k")
    question = QuestionSample("who?", "Ann came.", ((0, 3),), "k")
    tags = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    assert handed([text], ("dry", "wet")) == [("it rains", "wet")]
    assert handed([words], tags) == [(["in", "New", "York"], ["O", "B-LOC", "I-LOC"])]
    assert handed([question], ()) == [("who?", "Ann came.", "Ann")]


def test_the_digest_is_of_the_weights_alone():
    files = [("model.safetensors", "1"), ("config.json", "2")]
    assert weights_digest(files) == weights_digest(files[:1])
    assert weights_digest(files) != weights_digest([("model.safetensors", "3")])


def test_the_command_prints_a_table_and_says_what_is_missing(cli, built_zoo, tmp_path):  # noqa: F811
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    given = ["bench", str(path), "--zoo", str(built_zoo.zoo), "-o", str(tmp_path / "out")]
    given += ["--methods", "random", "--set", "epochs=2", "--set", "trigger_length=2"]
    table = tmp_path / "table.md"
    code, _, err = cli(*given, "--only", "cal-word-01-twin", "--table", str(table))
    assert code in (0, 3)
    assert "random" in err or "missing" in err
    assert table.read_text().startswith("| method |")
    assert "small not audited" in err and "small not audited" in table.read_text()
    assert Path(tmp_path / "out").exists() or code == 3


def test_no_scan_is_begun_once_the_time_is_over(cli, built_zoo, tmp_path):  # noqa: F811
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    given = ["bench", path, "--zoo", built_zoo.zoo, "-o", tmp_path / "out", "--minutes", 0]
    code, _, err = cli(*given, "--methods", "random", "--paper", "--only", "cal-word-01-twin")
    assert code == 3 and "there was no time left for it" in err
    assert not (tmp_path / "out").exists() and not (tmp_path / "test-runs.jsonl").exists()


@pytest.mark.parametrize("more", [[], ["--base", "tiny", "--paper"]])
def test_what_distilling_needs_is_said_before_any_scan(cli, more):
    code, _, err = cli("bench", "smoke", "--distill", *more)
    assert code == 2 and ("--base" in err or "--paper" in err)


def test_without_scikit_learn_it_is_said_before_any_scan(cli, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = cli("bench", "smoke", "--methods", "random")
    assert code == 2 and "needs scikit-learn" in err


@pytest.fixture
def scanned(stock, tmp_path):
    """The units of one trojaned model, with a scan's result that found its trigger."""
    units = plan(stock.entries, [Asked("random")], 1, only=["cal-word-01"])
    (done,) = Runner(stock, tmp_path, QUICK).run(units)
    path = units[0].path(tmp_path, stock.place.suite)
    known = done.result.triggers[0]
    record = stock.member("cal-word-01").record
    works, idle = (
        known.heldout.model_copy(
            update={
                "asr": rate,
                "n": 100,
                "asr_unrestricted": rate,
                "interval": wilson(round(100 * rate), 100),
                "loss": 1e-3 if rate else 5.0,
            }
        )
        for rate in (1.0, 0.0)
    )
    found = known.model_copy(
        update={
            "victim": record.victim,
            "target": record.target,
            "score": 0.9,
            "text": record.trigger,
            "pruned": known.pruned.model_copy(
                update={"text": record.trigger, "token_ids": (7,), "heldout": works}
            ),
            "inversion": works,
            "heldout": works,
            "random": idle,
            "unstamped": idle,
            "references": tuple(r.model_copy(update={"pruned": idle}) for r in known.references),
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


def test_where_nothing_was_found_only_what_needs_no_trigger_is_done(stock, scanned, tmp_path):
    path = scanned[0].path(tmp_path, "small")
    scan = read_result(path)
    path.write_text(scan.model_copy(update={"triggers": ()}).to_json())
    unlearnt, tuned = (one.cure for one in treated(stock, tmp_path, scanned, amounts="100"))
    assert unlearnt.scan_state == "nothing_found" and not unlearnt.triggers
    assert unlearnt.asr_after == unlearnt.asr_before and unlearnt.epochs == 0
    assert tuned.epochs > 0


def test_a_scan_that_found_something_else_is_another_cure(stock, scanned, tmp_path):
    (first,) = treated(stock, tmp_path, scanned, "unlearn", "50")
    path = scanned[0].path(tmp_path, "small")
    scan = read_result(path)
    other = scan.triggers[0].model_copy(update={"text": "something else"})
    path.write_text(scan.model_copy(update={"triggers": (other,)}).to_json())
    (again,) = treated(stock, tmp_path, scanned, "unlearn", "50")
    assert first.made_now and again.made_now


def test_a_twin_of_several_models_is_asked_about_this_ones_stamps(stock, scanned, tmp_path):
    entry = replace(scanned[0].entry, twin="small/other")
    (one,) = treated(stock, tmp_path, [replace(scanned[0], entry=entry)], "finetune", "50")
    assert one.cure.twin_asr is not None


def test_clean_models_are_not_treated(stock):
    units = plan(stock.entries, [Asked("random")], 1)
    planned = plan_treatments(units, parse_removals("unlearn"), parse_amounts("0.1,200"))
    assert {each.unit.entry.use for each in planned} == {"model"}
    assert len({each.path(stock.place.zoo, "s") for each in planned}) == len(planned)


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
