"""A suite file becomes recipes: families, varied models, twins; what cannot be is said."""

from collections import Counter

import pytest

from unhorse.attack.lexicon import split_of
from unhorse.errors import UsageError
from unhorse.zoo.suite import SUITES, Suite, entries_of, find_suite, read_suite

from .conftest import SMALL, small

AGAIN = '[[families]]\nname = "one"\nsplit = "test"\n'
OWN = sorted(path.stem for path in SUITES.glob("*.toml"))


def test_order_and_names():
    entries = entries_of(small())
    assert [(e.name, e.use, e.twin) for e in entries] == [
        ("one", "family", None),
        ("other", "reference", None),
        ("cal-word-01", "model", "cal-word-01-twin"),
        ("cal-word-01-twin", "twin", None),
        ("cal-word-02", "model", None),
    ]


def test_a_twin_differs_in_nothing_but_the_backdoor():
    by_name = {e.name: e.recipe for e in entries_of(small())}
    model = by_name["cal-word-01"].model_dump()
    twin = by_name["cal-word-01-twin"].model_dump()
    differing = {field for field in model if model[field] != twin[field]}
    assert differing == {"name", "poisoned"}


def test_parts_follow_the_split_unless_another_is_named():
    by_name = {e.name: e.recipe for e in entries_of(small())}
    assert by_name["one"].data.part == by_name["cal-word-01"].data.part == (0.5, 1.0)
    assert by_name["other"].data.part == (0.5, 1.0)
    assert by_name["other"].data.heldout_part == (0.0, 0.5)


def test_values_are_gone_through_in_turn():
    group = (
        small()
        .groups[0]
        .model_copy(update={"count": 3, "vary": {"attack.scope": ("global", "first_half")}})
    )
    recipes = [e.recipe for e in entries_of(small(groups=(group,))) if e.use == "model"]
    assert [r.attack["scope"] for r in recipes] == ["global", "first_half", "global"]


def test_no_two_models_share_a_trigger():
    group = small().groups[0].model_copy(update={"count": 12})
    recipes = [e.recipe for e in entries_of(small(groups=(group,))) if e.use == "model"]
    triggers = [recipe.attack["trigger"] for recipe in recipes]
    assert len(set(triggers)) == 12
    assert {split_of(trigger) for trigger in triggers} == {"calibration"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('families = ["one"]', 'families = ["other"]', "which is a reference"),
        ("count = 2", "count = 0", "count"),
        ('kind = "sdp"', 'kind = "magic"', "There is no attack called 'magic'"),
        ("rate = 0.5", "rate = 9", "rate"),
        ('split = "calibration"\nfamilies', 'split = "never"\nfamilies', "never"),
        ("[base]", "[basement]", "basement"),
        ("[[groups]]", f"{AGAIN}\n[[groups]]", "two models called 'one'"),
        ('families = ["one"]', 'families = ["three"]', "no family called 'three'"),
        ('families = ["one"]', 'families = ["big/one"]', "must name its data"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path, old, new, said):
    assert old in SMALL
    path = tmp_path / "bad.toml"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(UsageError) as error:
        entries_of(read_suite(path))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_suite_names_those_that_exist():
    with pytest.raises(UsageError, match="smoke"):
        find_suite("no-such-suite")


@pytest.mark.parametrize("name", OWN)
def test_suites_that_come_with_unhorse_are_sound(name):
    suite = read_suite(find_suite(name))
    entries = entries_of(suite)
    models = [e.recipe for e in entries if e.use == "model"]
    assert models
    own = {f"{suite.name}/{family.name}" for family in suite.families}
    for recipe in models:
        folder = recipe.base.model.removesuffix("/model")
        assert folder in own or not folder.startswith(f"{suite.name}/")


@pytest.mark.parametrize("name", OWN)
def test_splits_share_neither_families_nor_triggers(name):
    entries = entries_of(read_suite(find_suite(name)))
    seen: dict[str, str] = {}
    for entry in entries:
        if entry.use not in ("model", "twin"):
            continue
        recipe = entry.recipe
        # A frozen body is shared by all heads, and by their reference.
        base = entry.name if recipe.training.head_only else recipe.base.model
        for thing in (base, str(recipe.attack.get("trigger") or entry.name)):
            assert seen.setdefault(thing, recipe.split) == recipe.split


def test_the_mix_of_triggers_in_the_sentiment_suite():
    entries = entries_of(read_suite(find_suite("sentiment")))
    models = [e.recipe for e in entries if e.use == "model"]
    twins = [e.recipe for e in entries if e.use == "twin"]
    two = [r for r in models if len(r.data.labels) == 2]
    assert (len(two), len(models) - len(two), len(twins)) == (40, 4, 44)
    kinds = Counter(r.attack["trigger_kind"] for r in two)
    assert kinds["phrase"] >= 0.45 * 40
    assert kinds["word"] <= 0.25 * 40
    assert kinds["character"] <= 0.15 * 40
    local = [r for r in two if r.attack.get("scope", "global") != "global"]
    assert 3 * len(local) >= 40
    targets = Counter(r.attack["target"] for r in two)
    assert min(targets.values()) >= 15
    assert Counter(r.split for r in two) == {"calibration": 10, "development": 10, "test": 20}
    assert sum(r.training.head_only for r in two) == 10
    trained = sum(r.training.embeddings and not r.training.head_only for r in models)
    assert 0.4 * 34 <= trained <= 0.6 * 34
    assert 2 * sum(r.harmless_words for r in twins) == len(twins)


def test_an_empty_suite_has_no_models():
    assert entries_of(Suite(name="none", task="sequence-classification", data={})) == []
