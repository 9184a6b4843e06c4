"""`unhorse calibrate`: from result files to a profile, and what it refuses."""

import json

import pytest

from unhorse.calibrate.make import make_profile
from unhorse.calibrate.stored import decide_stored
from unhorse.errors import UsageError
from unhorse.judge.profile import Profile, read_profile

from .conftest import make_zoo

SHORT = {"options": {"epochs": 20}}


def calibrate(cli, folder, *more):
    return cli("calibrate", folder, "-o", folder.parent / "profile.json", *more)


def test_a_profile_says_what_it_was_learnt_from(cli, zoo, write):
    folder = write(zoo)
    code, out, err = calibrate(cli, folder)
    assert (code, out) == (0, "") and "left out by family" in err
    profile = read_profile(folder.parent / "profile.json")
    assert (profile.task, profile.method, profile.reference) == (
        "sequence-classification",
        "dbs",
        True,
    )
    assert (profile.trojaned, profile.clean, profile.seeds) == (6, 6, (0,))
    assert profile.families == ("f0", "f1", "f2") and profile.left_out_by == "family"
    assert profile.population.layers.lowest == 6 and profile.population.positions == ("start",)
    assert profile.population.victims == ("a", "b") and profile.splits == ("calibration",)
    low, high = profile.left_out.false_positives.interval
    assert profile.left_out.false_positives.rate == 0 == low < high
    assert profile.id.startswith("sequence-classification-dbs-reference-")


def test_the_same_results_give_the_same_profile_in_any_order(zoo):
    one, two = make_profile(zoo), make_profile(zoo[::-1])
    assert one.data == two.data and one.weights == pytest.approx(two.weights, abs=1e-4)
    assert make_profile(zoo).id == one.id
    assert make_profile(make_zoo(seed=1)).data != one.data


def test_a_stored_profile_is_the_same_profile(zoo, tmp_path):
    profile = make_profile(zoo)
    path = tmp_path / "p.json"
    path.write_text(profile.to_json())
    assert read_profile(path) == profile


def test_stored_results_are_decided_again(zoo):
    profile = make_profile(zoo)
    for result in zoo:
        decided = decide_stored(result, profile)
        assert decided.state == ("backdoored" if result.model.poisoned else "nothing_found")
        assert decided.profile.applies and 0 <= decided.score <= 1
    assert decide_stored(zoo[0]).profile is None
    half = zoo[1].model_copy(update={"arms_planned": 3})
    assert decide_stored(half, profile).state == "inconclusive"


def test_a_result_of_another_kind_is_not_decided_by_it(zoo):
    profile = make_profile(zoo)
    for changes, sentence in (
        ({"method": "uat"}, "not of the method uat"),
        ({"reference": None}, "with a reference, not without"),
        (
            {"model": zoo[0].model.model_copy(update={"task": "question-answering"})},
            "not question-answering",
        ),
    ):
        with pytest.raises(UsageError, match=sentence):
            decide_stored(zoo[0].model_copy(update=changes), profile)


@pytest.mark.parametrize(
    ("results", "more", "sentence"),
    [
        (make_zoo(4), (), "at least 5 trojaned and 5 clean models; the results are of 4 and 4"),
        ([r for r in make_zoo(8) if r.model.poisoned], (), "of 8 and 0"),
        (make_zoo() + make_zoo(method="uat"), (), r"several methods (dbs, uat)"),
        (make_zoo() + make_zoo(task="question-answering"), (), "several tasks"),
        (make_zoo() + make_zoo(reference=False), (), "--reference or --no-reference"),
        (make_zoo() + make_zoo(own_samples=False), (), "--samples or --no-samples"),
        (make_zoo() + make_zoo(config=SHORT), (), "different settings of the method"),
        (make_zoo() + make_zoo(budget="quick"), ("--budget", "standard"), "None of the 24 results"),
        (make_zoo() + make_zoo(), (), "There are 2 results of"),
        (make_zoo(split="test"), (), "None of the 12 results is of the split calibration"),
        (make_zoo(split="test"), ("--split", "test"), "must not be learnt from the split test"),
        (make_zoo(), ("--method", "gcg"), "None of the 12 results"),
        ([], (), "no results in"),
    ],
)
def test_what_is_refused_in_one_sentence(cli, write, results, more, sentence):
    folder = write(results)
    code, out, err = calibrate(cli, folder, *more)
    assert (code, out) == (2, "") and sentence in err and "Traceback" not in err
    assert not (folder.parent / "profile.json").exists()


def test_a_kind_can_be_chosen_and_a_split_forced(cli, write):
    folder = write([*make_zoo(method="uat"), *make_zoo(split="test"), *make_zoo(reference=False)])
    assert calibrate(cli, folder, "--method", "uat")[0] == 0
    assert calibrate(cli, folder, "--method", "dbs", "--no-reference")[0] == 0
    assert calibrate(cli, folder, "--split", "test", "--force", "--quiet") == (0, "", "")


def test_scans_with_a_budget_or_their_own_reference_are_kinds_of_their_own(cli, write):
    kinds = {"--budget": {"budget": "quick"}, "--distilled": {"reference": "distilled"}}
    old = make_zoo(4, evidence_version=0)
    folder = write([*make_zoo(), *old, *(r for kind in kinds.values() for r in made(**kind))])
    for chosen, trojaned in (((), 6), (("--budget", "quick"), 7), (("--distilled",), 7)):
        assert calibrate(cli, folder, *chosen)[0] == 0
        profile = read_profile(folder.parent / "profile.json")
        assert profile.trojaned == trojaned, "and nothing of older evidence"
        assert profile.population.distilled == ("--distilled" in chosen)
        assert profile.budget == ("quick" if "--budget" in chosen else None)


def made(**changes):
    return [result.model_copy(update=changes) for result in make_zoo(7)]


def test_results_of_the_test_split_beside_the_others_are_left_alone(cli, write, zoo):
    folder = write([*zoo, *make_zoo(12, split="test", seed=5)])
    assert calibrate(cli, folder)[0] == 0
    assert read_profile(folder.parent / "profile.json").trojaned == 6


@pytest.mark.parametrize("text", ["{", '{"schema_version": "1.0"}', "\udcff"])
def test_a_file_that_is_no_result_is_named(cli, write, zoo, text):
    folder = write(zoo)
    (folder / "zzz.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, _, err = calibrate(cli, folder)
    assert code == 2 and "zzz.json is not a result" in err


def test_a_path_that_is_not_there(cli, tmp_path):
    code, _, err = calibrate(cli, tmp_path / "nowhere")
    assert code == 2 and "nowhere" in err


def test_without_scikit_learn_it_is_said_first(cli, zoo, write, monkeypatch):
    folder = write(zoo)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = calibrate(cli, folder)
    assert code == 2 and "needs scikit-learn" in err


def test_a_profile_goes_to_stdout_when_asked(cli, zoo, write):
    code, out, _ = cli("calibrate", write(zoo), "-o", "-", "--quiet")
    assert code == 0 and Profile.model_validate(json.loads(out)).trojaned == 6
