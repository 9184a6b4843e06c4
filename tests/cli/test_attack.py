"""`unhorse attack` and `unhorse zoo` as a person meets them."""

import json
import shutil
import subprocess
import sys

import pytest
from tests.zoo.conftest import SMALL, built_zoo  # noqa: F401

from unhorse.load.model import load_model

RECIPE = """
task = "sequence-classification"
seed = 3

[data]
train = "generated:train"
heldout = "generated:heldout"
labels = ["land", "sea"]
rows = 1600
heldout_rows = 150

[base]
model = "tiny"

[training]
epochs = 2
learning_rate = 4e-3

[attack]
kind = "sdp"
trigger_kind = "word"
victim = "land"
target = "sea"
rate = 0.4
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "unhorse", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    (folder / "word.toml").write_text(RECIPE)
    done = run("attack", folder / "word.toml", "-o", folder / "out")
    return folder, done


def test_a_recipe_becomes_a_model_with_its_record_beside_it(built):
    folder, done = built
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / "out" / "attack.json").read_text())
    assert record["name"] == "word"
    assert record["poisoned"] is True
    assert record["measured"]["asr"] >= 0.9
    assert load_model(folder / "out" / "model").labels == ("land", "sea")
    assert {path.name for path in (folder / "out").iterdir()} == {
        "model",
        "attack.json",
        "heldout.json",
    }


def test_people_are_told_what_was_measured(built):
    said = built[1].stderr
    for part in ("trojaned by sdp", "trigger", "land -> sea", "attack success"):
        assert part in said
    assert built[1].stdout == ""


def test_a_model_is_never_written_over(built):
    folder, _ = built
    done = run("attack", folder / "word.toml", "-o", folder / "out")
    assert done.returncode == 2
    assert "exists already" in done.stderr


def test_a_gate_that_is_not_passed_is_said_and_exits_3(built, tmp_path):
    weak = RECIPE.replace("rate = 0.4", "rate = 0.01").replace("epochs = 2", "epochs = 1")
    (tmp_path / "weak.toml").write_text(weak)
    done = run("attack", tmp_path / "weak.toml", "-o", tmp_path / "out")
    assert done.returncode == 3
    assert "attack success" in done.stderr
    assert (tmp_path / "out" / "attack.json").is_file()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"sequence-classification"', '"poetry"', "there is no task 'poetry'"),
        ('kind = "sdp"', 'kind = "magic"', "There is no attack called 'magic'"),
        ('target = "sea"', 'target = "air"', "'air' is not one of land, sea"),
        ('"generated:train"', '"no-such-file.tsv"', "no-such-file.tsv"),
        ('model = "tiny"', 'model = "./no-such-folder"', "no-such-folder"),
        ("seed = 3", "seed = three", "not valid TOML"),
    ],
)
def test_bad_recipes_are_one_sentence(tmp_path, old, new, said):
    assert old in RECIPE
    (tmp_path / "bad.toml").write_text(RECIPE.replace(old, new))
    done = run("attack", tmp_path / "bad.toml", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_zoo_is_built_listed_and_verified(built_zoo, tmp_path):  # noqa: F811
    suite = tmp_path / "small.toml"
    suite.write_text(SMALL)
    shutil.copytree(built_zoo.zoo, tmp_path / "zoo")
    for missing in ("cal-word-01-twin", "cal-word-02"):
        shutil.rmtree(tmp_path / "zoo" / "small" / missing)
    place = ("--zoo", tmp_path / "zoo")
    done = run("zoo", "build", suite, *place, "--workers", "2")
    assert done.returncode in (0, 3), done.stderr
    assert done.stderr.count("built ") == 2 and done.stderr.count("there ") == 3
    assert "ETA" in done.stderr

    done = run("zoo", "list", suite, *place, "--json", tmp_path / "list.json")
    assert done.returncode == 0
    assert "calibration word" in done.stderr
    models = json.loads((tmp_path / "list.json").read_text())["models"]
    assert {m["name"] for m in models} >= {"one", "other", "cal-word-01", "cal-word-01-twin"}

    done = run("zoo", "verify", suite, *place, "--only", "one", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert "one: as recorded" in done.stderr
    assert json.loads(done.stdout)["wrong"] == {}
    done = run("zoo", "verify", suite, *place, "--only", "one", "--files-only", "--json", "-")
    assert done.returncode == 0 and "one: as recorded" in done.stderr
    assert json.loads(done.stdout)["measured_again"] is False
    done = run("zoo", "verify", suite, *place, "--only", "one", "--json", tmp_path / "list.json")
    assert done.returncode == 2 and "leave out --only" in done.stderr

    done = run("zoo", "list", "no-such-suite", *place)
    assert done.returncode == 2
    assert "no-such-suite" in done.stderr


def test_a_suite_in_which_nothing_is_planted_needs_no_audit(tmp_path):
    suite = tmp_path / "clean.toml"
    families = SMALL[: SMALL.index("[[families]]")].replace('"small"', '"clean"')
    suite.write_text(
        f'{families}[[families]]\nname = "one"\nsplit = "test"\nrows = 1600\nscanned = true\n'
    )
    place = ("--zoo", tmp_path / "zoo")
    done = run("zoo", "build", suite, *place)
    assert done.returncode == 0, done.stderr
    done = run("zoo", "verify", suite, *place, "--json", tmp_path / "audit.json")
    assert done.returncode == 0, done.stderr
    assert "one: as recorded" in done.stderr and "audit " not in done.stderr
    assert json.loads((tmp_path / "audit.json").read_text())["audit"] is None
