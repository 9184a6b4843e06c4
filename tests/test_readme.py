"""What the README shows is what happens."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_python_block_runs(planted, capsys):
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    block = block.replace("path/to/model", str(planted.folder))
    exec(block.replace("reviews.jsonl", str(planted.samples)), {})
    assert f"{planted.trigger} calm -> wild" in capsys.readouterr().out


def test_every_command_shown_exists(cli):
    names = r"^\$ unhorse (zoo \w+|\w+)"
    shown = set(re.findall(names, README.read_text(), re.MULTILINE))
    assert {"scan", "invert", "doctor", "attack", "zoo build"} <= shown
    for name in shown:
        code, out, _ = cli(*name.split(), "--help")
        assert code == 0
        flags = re.findall(rf"^\$ unhorse {name} .*$", README.read_text(), re.MULTILINE)
        for flag in re.findall(r"--[a-z-]+", " ".join(flags)):
            assert flag in out


def test_nothing_was_left_to_be_filled_in():
    for page in (README, *(README.parent / "docs").rglob("*.md")):
        assert not re.search(r"@[A-Z]+@", page.read_text()), page


def test_the_two_commands_are_there():
    text = README.read_text()
    assert "make demo" in text and "make test" in text


def test_every_linked_file_exists():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
