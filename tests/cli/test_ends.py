"""How commands end when readers leave, people interrupt, or there was nothing to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.bench.made import result

LIST = ("zoo", "list", "smoke", "--zoo")


def run_with_closed(stream, *arguments):
    """The exit code of a command that has one of its streams read by nobody."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: writer}
    command = [sys.executable, "-m", "unhorse", *map(str, arguments)]
    try:
        return subprocess.run(command, **streams, check=False).returncode
    finally:
        os.close(writer)


def test_nobody_has_to_read_along(cli, tmp_path):
    code, *_ = cli(*LIST, tmp_path)
    listing = tmp_path / "list.json"
    assert run_with_closed("stderr", *LIST, tmp_path, "--json", listing) == code
    assert json.loads(listing.read_text())["suite"] == "smoke"


def test_a_result_that_nobody_takes_is_no_verdict(tmp_path):
    assert run_with_closed("stdout", *LIST, tmp_path, "--json", "-") == 2


def test_an_interruption_is_said(cli, monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("unhorse.cli.zoo.Opened", interrupted)
    code, _, err = cli(*LIST, tmp_path)
    assert code == 130 and "Interrupted." in err


def test_help_does_not_wait_for_torch():
    code = "import sys, unhorse.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--split", "nosuch"), "nothing to do"),
        (("--budget", "bogus"), "bogus"),
        (("--device", "bogus"), "bogus"),
        (("--set", "bogus=1"), "bogus"),
        (("-o", "/dev/null/x"), "cannot be written"),
        (("--log", "/dev/null/x/y"), "cannot be written"),
    ],
)
def test_a_benchmark_says_what_is_wrong_before_it_begins(cli, tmp_path, wrong, said):
    place = ("--zoo", tmp_path, "-o", tmp_path / "out", "--methods", "dbs")
    code, _, err = cli("bench", "smoke", *place, *wrong)
    assert code == 2 and said in err


def test_tables_and_figures_of_nothing_are_no_success(cli, tmp_path):
    (tmp_path / "one.json").write_text(result("a").to_json())
    code, _, err = cli("tables", tmp_path, "--split", "nosuch", "-o", tmp_path / "out")
    assert code == 2 and "nosuch" in err
    code, _, err = cli("figures", "collect", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert code == 2 and "nowhere" in err


@pytest.mark.parametrize("models", ["3", "[3]", "[{}]"])
def test_files_of_other_shapes_are_passed_over(cli, tmp_path, models):
    path = tmp_path / "list.json"
    path.write_text(f'{{"suite": "smoke", "models": {models}, "statistics": {models}}}')
    assert cli("zoo", "table", tmp_path, "-o", tmp_path / "out")[0] in (0, 2)
    assert cli(*LIST, tmp_path / "zoo", "--json", path)[0] == 3
    assert cli("zoo", "verify", "smoke", "--zoo", tmp_path / "zoo", "--json", path)[0] == 3


def test_configuration_files_with_other_shapes(cli, planted, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("options = 3\n")
    code, _, err = cli("scan", planted.folder, "--config", file, "--set", "epochs=5")
    assert code == 2 and "options must be a table" in err
    code, _, err = cli("scan", planted.folder, "--json", tmp_path / ("x" * 300))
    assert code == 2 and "cannot be written" in err


def test_a_record_is_read_by_its_own_name(cli, planted, tmp_path):
    (tmp_path / "attack.json").write_bytes(b"\xff\xfe")
    given = ("--trigger", "x", "--victim", "calm", "--target", "wild", "-o", tmp_path / "out")
    for name in ("attack.json", "renamed.json"):
        place = ("--attack-record", tmp_path / name)
        code, _, err = cli("remove", planted.folder, *given, *place)
        assert code == 2 and name in err, err
