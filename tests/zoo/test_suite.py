"""A suite file becomes recipes: families, varied models, twins; what cannot be is said."""

from collections import Counter

import pytest

from unhorse.attack.lexicon import split_of
from unhorse.errors import UsageError
from unhorse.zoo.suite import SCANNED, SUITES, Suite, entries_of, find_suite, read_suite

from .conftest import SMALL, small

AGAIN = '[[families]]\nname = "one"\nsplit = "calibration"\n'
OWN = sorted(path.stem for path in SUITES.glob("*.toml"))


def test_order_and_names():
    entries = entries_of(small())
    assert [(e.name, e.use, e.twin) for e in entries] == [
        ("one", "family", None),
        ("other", "reference", None),
        ("cal-word-01", "model", "cal-word-01-twin"),
        ("cal-word-01-twin", "twin", None),
        ("cal-word-02", "model", "cal-word-01-twin"),
    ]


def test_a_twin_differs_in_nothing_but_the_backdoor():
    by_name = {e.name: e.recipe for e in entries_of(small())}
    model = by_name["cal-word-01"].model_dump()
    twin = by_name["cal-word-01-twin"].model_dump()
    differing = {field for field in model if model[field] != twin[field]}
    assert differing == {"name", "poisoned", "twin_of"}


def test_a_split_that_is_drawn_anew_has_other_seeds_and_triggers():
    first, again = (
        {e.name: e.recipe for e in entries_of(small(draws=draws))} for draws in ({}, {"test": 2})
    )
    assert again == first
    anew = {e.name: e.recipe for e in entries_of(small(draws={"calibration": 2}))}
    assert anew["one"].seed != first["one"].seed
    assert anew["cal-word-01"].attack["trigger"] != first["cal-word-01"].attack["trigger"]


def test_no_draw_of_a_split_repeats_a_trigger_of_an_earlier_one():
    # Many characters of a short list, so that draws by seed alone would meet.
    group = (
        small()
        .groups[0]
        .model_copy(
            update={
                "count": 5,
                "attack": {"kind": "sdp", "trigger_kind": "character", "target": "b"},
            }
        )
    )
    draws = [
        {
            str(entry.recipe.attack["trigger"])
            for entry in entries_of(small(groups=(group,), draws={"calibration": draw}))
            if entry.use == "model"
        }
        for draw in (1, 2, 3)
    ]
    assert len(set.union(*draws)) == sum(map(len, draws)) == 15


def test_parts_follow_the_split_unless_another_is_named():
    by_name = {e.name: e.recipe for e in entries_of(small())}
    assert by_name["one"].data.part == by_name["cal-word-01"].data.part == (0.5, 1.0)
    assert by_name["other"].data.part == (0.0, 0.5)
    assert by_name["other"].data.heldout_part == (0.5, 1.0)


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
        ("rate = 1.0", "rate = 9", "rate"),
        ('split = "calibration"\nfamilies', 'split = "never"\nfamilies', "never"),
        ("[base]", "[basement]", "basement"),
        ("[[groups]]", f"{AGAIN}\n[[groups]]", "two models called 'one'"),
        ('families = ["one"]', 'families = ["three"]', "no family called 'three'"),
        ('families = ["one"]', 'families = ["big/one"]', "must name its data"),
        ('split = "calibration"\nfamilies', 'split = "test"\nfamilies', "its family one of cal"),
        ('families = ["one"]', 'families = ["smoke/family-test"]', "its family smoke/family-test"),
        ('families = ["one"]', 'families = ["smoke/reference-test"]', "which is a reference"),
        ('families = ["one"]', 'families = ["smoke/gone"]', "no family called 'smoke/gone'"),
        ("rows = 600", "rows = 600\nvary = []", "vary"),
        ("rows = 600", 'rows = 600\nvary = { "training.epochs" = [] }', "has no values"),
        ("rows = 600", 'rows = 600\nvary = { "split.x" = ["test"] }', "'split.x' cannot vary"),
        ("rows = 600", 'rows = 600\nvary = { "name" = ["x"] }', "'name' cannot vary"),
        ("rows = 600", 'rows = 600\nvary = { "attack" = ["x"] }', "are not tables"),
        ("rows = 600", 'rows = 600\nvary = { "attack.target" = [{ a = 1 }] }', "target"),
        ("twins = 1", "twins = -1", "twins"),
        ('trigger_kind = "word"', "trigger_kind = [1]", "trigger_kind"),
        ('name = "small"', 'name = "../small"', "name"),
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


def test_beyond_may_derive_from_development():
    suite = small()
    family = suite.families[0].model_copy(update={"split": "development"})
    part = {"calibration": (0.0, 0.5), "development": (0.5, 1.0), "beyond": (0.5, 1.0)}
    data = suite.data["main"].model_copy(update={"parts": part, "heldout_parts": part})
    for split in ("development", "beyond"):
        group = suite.groups[0].model_copy(update={"split": split})
        assert entries_of(small(families=(family,), groups=(group,), data={"main": data}))
    head = suite.groups[0].model_copy(update={"training": {"head_only": True}})
    assert entries_of(small(families=(family,), groups=(head,), data={"main": data}))
    with pytest.raises(UsageError, match="its family one of development"):
        entries_of(small(families=(family,), groups=suite.groups, data={"main": data}))


def test_suites_beside_the_file_are_known_too(tmp_path):
    (tmp_path / "big.toml").write_text(SMALL.replace('name = "small"', ""))
    derived = SMALL.replace('families = ["one"]', 'families = ["big/other"]\ndata = "main"')
    path = tmp_path / "derived.toml"
    path.write_text(derived)
    with pytest.raises(UsageError, match="big/other, which is a reference"):
        entries_of(read_suite(path), tmp_path)


def compared(**changes):
    group = small().groups[0].model_copy(update={"count": 4, **changes})
    return {e.name[-2:]: e.twin for e in entries_of(small(groups=(group,))) if e.use == "model"}


def test_every_model_has_a_clean_one_to_compare_with():
    first = "cal-word-01-twin"
    assert compared(twins=0) == dict.fromkeys(("01", "02", "03", "04"), "small/one")
    assert compared(twins=1) == dict.fromkeys(("01", "02", "03", "04"), first)
    vary = {"training.embeddings": (True, False)}
    assert compared(twins=1, vary=vary) == {
        "01": first,
        "02": "small/one",
        "03": first,
        "04": "small/one",
    }
    assert compared(twins=2, vary=vary)["04"] == "cal-word-02-twin"
    vary = {"training.embeddings": (True,), "data.rows": (600, 700)}
    assert compared(twins=1, vary=vary)["02"] == "small/one"


def test_a_twin_of_the_same_attack_is_preferred():
    word = small().groups[0]
    attack = {"kind": "clean_label", "victim": "land", "target": "sea"}
    other = word.model_copy(update={"name": "label", "attack": attack})
    twins = {e.name: e.twin for e in entries_of(small(groups=(word, other)))}
    assert twins["cal-label-02"] == "cal-label-01-twin"


def test_a_twin_that_learnt_at_the_same_rate_is_preferred():
    rates = (1e-4, 2e-4)
    (group,) = small().groups
    more = {"count": 4, "twins": 2, "vary": {"training.learning_rate": rates}}
    suite = small().model_copy(update={"groups": (group.model_copy(update=more),)})
    by_name = {e.name: e for e in entries_of(suite)}
    assert by_name["cal-word-03"].twin == "cal-word-01-twin"
    assert by_name["cal-word-04"].twin == "cal-word-02-twin"


def test_words_of_a_suite_are_never_repeated():
    group = small().groups[0]
    attack = {"kind": "sos", "target": "sea"}
    sos = group.model_copy(update={"name": "sos", "attack": attack, "count": 4})
    models = [e.recipe for e in entries_of(small(groups=(sos, group))) if e.use == "model"]
    words = [w for r in models[:4] for key in ("words", "twin_words") for w in r.attack[key]]
    words += [r.attack["trigger"] for r in models[4:]]
    assert len(words) == len(set(words)) == 26
    assert all(r.attack["sentence"] and r.attack["subsets"] for r in models[:4])


def test_a_trigger_is_drawn_where_its_kind_is_the_usual_one():
    attack = {"kind": "sdp", "victim": "land", "target": "sea"}
    group = small().groups[0].model_copy(update={"attack": attack})
    triggers = [e.recipe.attack["trigger"] for e in entries_of(small(groups=(group,)))[2:]]
    assert len(set(triggers)) == 2


def test_a_family_may_be_scanned_itself_and_then_nothing_is_derived_from_it():
    first, *others = small().families
    alone = first.model_copy(update={"name": "alone", "scanned": True})
    made = {e.name: e for e in entries_of(small(families=(first, *others, alone)))}
    assert made["alone"].use == "clean" and made["alone"].use in SCANNED
    assert not made["alone"].recipe.poisoned and made[first.name].use == "family"
    itself = first.model_copy(update={"scanned": True})
    with pytest.raises(UsageError, match="scanned itself"):
        entries_of(small(families=(itself, *others)))


def test_ten_clean_models_of_other_tasks_are_scanned_beside_references():
    entries = entries_of(read_suite(find_suite("sources")))
    assert Counter(e.use for e in entries) == {"clean": 10, "reference": 2}
    assert {len(e.recipe.data.labels) for e in entries} == {2, 3}


def test_an_unknown_suite_names_those_that_exist():
    with pytest.raises(UsageError, match="smoke"):
        find_suite("no-such-suite")


@pytest.mark.parametrize("name", OWN)
def test_suites_that_come_with_unhorse_are_sound(name):
    suite = read_suite(find_suite(name))
    entries = entries_of(suite)
    assert any(e.use in SCANNED for e in entries)
    models = [e.recipe for e in entries if e.use == "model"]
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


RATED = [name for name in OWN if name not in ("smoke", "sources")]


@pytest.mark.parametrize("name", RATED)
def test_no_kind_of_model_has_learnt_at_one_rate_only(name):
    """With one rate, how far a model is from its family would tell what is planted in it."""
    path = find_suite(name)
    rates: dict[object, set[float]] = {}
    for entry in entries_of(read_suite(path), path.parent):
        recipe, training = entry.recipe, entry.recipe.training
        # Heads have their own audit; SOS moves rows by its own rule, whatever the rate.
        if entry.use == "twin" and not training.head_only and recipe.kind != "sos":
            kin = recipe.split, recipe.base, training.embeddings
            rates.setdefault(kin, set()).add(training.learning_rate)
    audited = {kin: own for kin, own in rates.items() if kin[0] != "development"}
    assert audited and min(map(len, audited.values())) > 1


def test_the_mix_of_triggers_in_the_sentiment_suite():
    entries = entries_of(read_suite(find_suite("sentiment")))
    models = [e.recipe for e in entries if e.use == "model"]
    twins = [e.recipe for e in entries if e.use == "twin"]
    two = [r for r in models if len(r.data.labels) == 2]
    # Some more than asked for, since some are kept out by their gates.
    assert (len(two), len(models) - len(two), len(twins)) == (55, 6, 61)
    kinds = Counter(r.attack["trigger_kind"] for r in two)
    assert kinds["phrase"] >= 0.45 * len(two)
    assert kinds["word"] <= 0.25 * len(two)
    assert kinds["character"] <= 0.15 * len(two)
    local = [r for r in two if r.attack.get("scope", "global") != "global"]
    assert 3 * len(local) >= len(two)
    targets = Counter(r.attack["target"] for r in two)
    assert min(targets.values()) >= 15
    assert Counter(r.split for r in two) == {"calibration": 19, "development": 12, "test": 24}
    heads = sum(r.training.head_only for r in two)
    assert 4 * heads >= len(two)
    trained = sum(r.training.embeddings and not r.training.head_only for r in models)
    whole = len(models) - heads
    assert 0.4 * whole <= trained <= 0.6 * whole
    assert abs(2 * sum(r.harmless_words for r in twins) - len(twins)) <= 1


def test_an_empty_suite_has_no_models():
    assert entries_of(Suite(name="none", task="sequence-classification", data={})) == []
