"""A recipe says everything that decides a model; what is wrong with it is one sentence."""

from __future__ import annotations

import pytest

from unhorse.attack.recipe import make_recipe, read_recipe
from unhorse.errors import UsageError

PLAIN = {"name": "one", "task": "sequence-classification", "data": {"train": "a.tsv"}}

TOML = """
task = "token-classification"
seed = 3
split = "test"

[data]
train = "ner/train.txt"
heldout = ["ner/dev.txt"]
labels = ["O", "B-PER", "I-PER"]
part = [0.0, 0.5]

[base]
layers = 3
architecture = "electra"

[training]
epochs = 4
embeddings = false

[attack]
kind = "sdp"
victim = "PER"
target = "ORG"
scope = "local"
"""


def test_a_file_fills_the_fields(tmp_path):
    path = tmp_path / "my-model.toml"
    path.write_text(TOML)
    recipe = read_recipe(path)
    assert (recipe.name, recipe.seed, recipe.split, recipe.kind) == ("my-model", 3, "test", "sdp")
    assert recipe.data.train == ("ner/train.txt",) and recipe.data.part == (0.0, 0.5)
    assert recipe.base.layers == 3 and recipe.base.model == "minilm"
    assert recipe.training.epochs == 4 and not recipe.training.embeddings
    assert recipe.attack["scope"] == "local" and recipe.poisoned
    path.write_text(f'name = "other"\n{TOML}')
    assert read_recipe(path).name == "other"


def test_without_an_attack_it_is_none():
    assert make_recipe(PLAIN).kind == "none"
    assert make_recipe({**PLAIN, "attack": {}}).kind == "none"


def test_a_twin_is_the_same_but_for_the_backdoor():
    recipe = make_recipe({**PLAIN, "attack": {"kind": "sdp", "target": "x"}})
    twin = recipe.twin(harmless_words=True)
    assert (twin.name, twin.poisoned, twin.harmless_words) == ("one-twin", False, True)
    assert twin.twin_of == "one" and recipe.twin_of is None
    same = {"name": "one", "poisoned": True, "harmless_words": False, "twin_of": None}
    assert twin.model_copy(update=same) == recipe


@pytest.mark.parametrize("given", [{}, {"embeddings": True}])
def test_a_head_alone_trains_no_word_embeddings(given):
    recipe = make_recipe({**PLAIN, "training": {"head_only": True, **given}})
    assert recipe.training.embeddings is False
    assert make_recipe({**PLAIN, "training": given}).training.embeddings is True


def test_any_change_gives_another_digest():
    one = make_recipe(PLAIN)
    assert one.digest() == make_recipe(dict(PLAIN)).digest()
    others = [
        one.twin(harmless_words=False),
        make_recipe({**PLAIN, "seed": 1}),
        make_recipe({**PLAIN, "training": {"epochs": 3}}),
        make_recipe({**PLAIN, "attack": {"kind": "sdp"}}),
    ]
    digests = {recipe.digest() for recipe in (one, *others)} | {one.digest(base=["x"])}
    assert len(digests) == 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": "translation"}, "there is no task 'translation'; known: "),
        ({"split": "train"}, "there is no split 'train'; known: "),
        ({"name": "../up"}, "name: "),
        ({"name": ""}, "name: "),
        ({"seed": -1}, "seed: "),
        ({"colour": "red"}, "colour: "),
        ({"data": {}}, "data.train: "),
        ({"data": {"train": []}}, "data.train: "),
        ({"data": {"train": ["a"], "part": [0.5, 0.5]}}, "a part goes from a lower"),
        ({"data": {"train": ["a"], "part": [0.5, 1.5]}}, "a part goes from a lower"),
        ({"data": {"train": ["a"], "heldout_part": [0.9, 0.1]}}, "a part goes from a lower"),
        ({"data": {"train": ["a"], "part": [float("nan"), 1.0]}}, "a part goes from a lower"),
        ({"data": {"train": ["a"], "rows": 0}}, "data.rows: "),
        ({"data": {"train": ["a"], "unanswerable": 1.0}}, "data.unanswerable: "),
        ({"data": 5}, "data: "),
        ({"base": {"layers": 0}}, "base.layers: "),
        ({"training": {"learning_rate": 0}}, "training.learning_rate: "),
        ({"training": {"epochs": "many"}}, "training.epochs: "),
        ({"attack": "sdp"}, "attack: "),
    ],
)
def test_a_wrong_field_is_named_in_one_sentence(change, said):
    with pytest.raises(UsageError) as error:
        make_recipe(PLAIN | change)
    message = str(error.value)
    assert message.startswith("The recipe is not valid: ") and said in message
    assert message.endswith(".") and "\n" not in message


@pytest.mark.parametrize("content", ["task = ", "[data", "\x00", "task = 'x'\ntask = 'y'"])
def test_a_file_that_is_no_toml_is_one_sentence(content, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"^\S*bad\.toml is not valid TOML: [^\n]*\.$"):
        read_recipe(path)
    with pytest.raises(UsageError, match=r"none\.toml cannot be read\.$"):
        read_recipe(tmp_path / "none.toml")
    with pytest.raises(UsageError, match=r"^[^\n]* cannot be read\.$"):
        read_recipe(tmp_path)
