"""Profiles: how they score, where they apply, and what is refused."""

from dataclasses import replace

import pytest

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.judge.circumstances import Circumstances, method_version
from unhorse.judge.clues import Clues
from unhorse.judge.features import features_of
from unhorse.judge.population import Population, Range
from unhorse.judge.profile import Measured, MeasuredRate, Profile, read_profile
from unhorse.judge.rule import rule_score, speaks_for_itself
from unhorse.judge.ruling import RULE, Ruling, asked_profile, check_fits, make_ruling

NOW = Circumstances("v", 6, 2, 18.0, 40, 200, frozenset({"start"}))
STRONG = Clues("a->b@start", 2, 1.0, 0.96, 100, 0.01, 0.0, 0.0, 0.5, 0.0, 0.01)
FAINT = replace(STRONG, asr=0.7, low=0.6, tokens=6, loss=0.7, reference=0.4)


def span(low, high):
    return Range(lowest=low, highest=high)


def make(**changes):
    rate = MeasuredRate(rate=1.0, interval=(0.7, 1.0), models=10)
    measured = Measured(true_positives=rate, false_positives=rate, cleared=rate, auroc=1.0)
    population = Population(
        architectures=("BertForSequenceClassification",),
        layers=span(3, 6),
        labels=span(2, 2),
        words=span(16, 80),
        used=span(40, 40),
        heldout=span(150, 200),
        victims=("negative",),
        positions=("end", "start"),
    )
    fields = {
        "id": "p",
        "task": "sequence-classification",
        "method": "dbs",
        "preset": None,
        "budget": None,
        "method_version": "v",
        "reference": True,
        "weights": {"beyond_references": 4.0, "brief": 1.0, "deep": 2.0},
        "bias": -4.0,
        "convict": 0.6,
        "suspect": 0.4,
        "population": population,
        "seeds": (0,),
        "trojaned": 10,
        "clean": 10,
        "families": ("f",),
        "splits": ("calibration",),
        "in_sample": measured,
        "left_out": measured,
        "left_out_by": "family",
        "data": "d",
        "versions": {},
    }
    return Profile(**{**fields, **changes})


def asked(profile=None, method="dbs"):
    return ScanConfig(method=method, profile=profile)


def test_the_score_is_the_logistic_of_weighted_features():
    assert make().score(STRONG) > 0.6 > 0.4 > make().score(FAINT)
    assert make(weights={}, bias=0.0).score(STRONG) == 0.5


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"weights": {"magic": 1.0}}, "unknown feature magic"),
        ({"weights": {"deep": -1.0}}, "greater than or equal"),
        ({"suspect": 0.6}, "suspect is not below convict"),
        ({"convict": 1.5}, "less than or equal"),
        ({"bias": float("nan")}, "finite"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ()),
        ({"layers": 12}, ("12 layers (3 to 6 calibrated)",)),
        ({"layers": None}, ("an unknown number of layers (3 to 6 calibrated)",)),
        ({"labels": 4}, ("4 labels (2 calibrated)",)),
        ({"words": 14.0}, ()),
        ({"words": 7.5}, ("7.5 words in a sample (16 to 80 calibrated)",)),
        ({"words": 200.0}, ("200 words in a sample (16 to 80 calibrated)",)),
        ({"used": 20}, ("20 samples (40 calibrated)",)),
        ({"used": 400, "heldout": 4000}, ()),
        ({"heldout": 30}, ("30 held-out samples (150 to 200 calibrated)",)),
        ({"positions": frozenset({"start", "first_half"})}, ("triggers at first_half",)),
        ({"version": "w"}, ("other settings of the method",)),
        ({"own_texts": True}, ("unhorse's own texts",)),
    ],
)
def test_where_it_applies(changes, said):
    assert make().outside(replace(NOW, **changes)) == said


def test_inside_its_population_a_profile_decides():
    ruling = Ruling(make())
    assert ruling.score(STRONG) == make().score(STRONG) >= ruling.convict
    assert ruling.use.applies and (ruling.convict, ruling.suspect) == (0.6, 0.4)


def test_outside_only_evidence_that_speaks_for_itself_convicts():
    eager = Ruling(make(bias=4.0), ("12 layers",))
    shy = Ruling(make(bias=-40.0), ("12 layers",))
    assert not eager.use.applies
    assert eager.score(FAINT) < eager.convict and eager.score(FAINT) >= eager.suspect
    narrow = Ruling(make(bias=9.0, suspect=0.599), ("12 layers",))
    assert narrow.suspect <= narrow.score(FAINT) < narrow.convict
    assert eager.score(STRONG) >= eager.convict and shy.score(STRONG) >= shy.convict


def test_weak_evidence_never_convicts_under_a_profile():
    few = replace(STRONG, n=9)
    bare = replace(STRONG, natural=None, reference=None)
    for clues in (few, bare):
        assert Ruling(make(bias=9.0)).score(clues) < 0.6
        assert Ruling(make(bias=9.0), ("12 layers",)).score(clues) < 0.6


@pytest.mark.parametrize(
    ("changes", "enough"),
    [
        ({}, True),
        ({"asr": 0.85}, False),
        ({"tokens": 5}, True),
        ({"tokens": 6}, False),
        ({"reference": 0.2}, False),
        ({"whole_loss": 0.04}, True),
        ({"whole_loss": 0.06}, False),
        ({"n": 9}, False),
        ({"reference": None}, True),
        ({"reference": None, "tokens": 4}, False),
        ({"reference": None, "natural": 0.9}, False),
        ({"reference": None, "natural": None}, False),
    ],
)
def test_evidence_that_speaks_for_itself(changes, enough):
    assert speaks_for_itself(replace(STRONG, **changes)) is enough


def test_every_feature_is_in_the_unit_interval_and_only_ever_rises():
    better = replace(STRONG, low=1.0, asr=1.0, tokens=1, loss=1e-6, natural=0.0, whole_loss=1e-6)
    better = replace(better, alone=1.0, alone_reference=0.0)
    worse = replace(
        STRONG, low=0.1, asr=0.2, tokens=9, loss=9.0, natural=1.0, reference=1.0, whole_loss=9.0
    )
    worse = replace(worse, alone=0.2, alone_reference=0.5)
    nothing = replace(STRONG, loss=None, natural=None, reference=None, whole_loss=None)
    for name in features_of(STRONG):
        values = [features_of(clues)[name] for clues in (worse, STRONG, better)]
        assert values == sorted(values) and values[0] >= 0 and values[-1] <= 1, name
        assert 0 <= features_of(nothing)[name] <= 1


def test_the_rule_decides_where_nothing_is_shipped(tmp_path):
    given = {"task": "sequence-classification", "now": NOW, "reference": True, "shipped": tmp_path}
    assert make_ruling(asked(), None, **given) is RULE
    assert RULE.score(STRONG) == rule_score(STRONG) and RULE.use is None


def test_a_shipped_profile_that_fits_is_used(tmp_path):
    (tmp_path / "p.json").write_text(make().to_json())
    given = {"task": "sequence-classification", "now": NOW, "reference": True, "shipped": tmp_path}
    assert make_ruling(asked(), None, **given).use.id == "p"
    assert make_ruling(asked("none"), None, **given) is RULE
    for changes in ({"task": "question-answering"}, {"reference": False}):
        assert make_ruling(asked(), None, **{**given, **changes}) is RULE
    other = make_ruling(asked(), None, **{**given, "now": replace(NOW, version="w")}).use
    assert not other.applies and other.outside == ("other settings of the method",)
    assert make_ruling(asked(method="uat"), None, **given) is RULE
    far = make_ruling(asked(), None, **{**given, "now": replace(NOW, layers=12)})
    assert not far.use.applies


def test_the_shipped_profiles_can_be_read():
    from unhorse.judge.profile import shipped_profiles

    kinds = [(p.task, p.method, p.method_version, p.reference) for p in shipped_profiles()]
    assert len(kinds) == len(set(kinds))


def test_a_profile_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(make().to_json())
    assert asked_profile(asked(str(path))).id == "p"
    assert asked_profile(asked()) is asked_profile(asked("none")) is None
    with pytest.raises(UsageError, match="of the method dbs, this scan is by uat"):
        asked_profile(asked(str(path), method="uat"))
    with pytest.raises(UsageError, match="not question-answering"):
        check_fits(make(), "question-answering", reference=True)
    with pytest.raises(UsageError, match="with a reference, not without"):
        check_fits(make(), "sequence-classification", reference=False)


@pytest.mark.parametrize("text", ["{", "[]", '{"id": "x"}', "\udcff"])
def test_a_file_that_is_no_profile(tmp_path, text):
    path = tmp_path / "p.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match="is not a profile"):
        read_profile(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_profile(tmp_path / "nowhere.json")


def test_the_method_version_is_of_what_decides_the_search():
    from unhorse.invert.run import plan_passes

    def version(**changes):
        config = ScanConfig(method="dbs", **changes)
        return method_version(config, plan_passes(config))

    assert version() == version(seed=3) == version(device="cpu") == version(profile="none")
    others = [{"budget": "quick"}, {"preset": "paper"}, {"options": {"epochs": 3}}]
    assert len({version(), *(version(**other) for other in others)}) == 4
