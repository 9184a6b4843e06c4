"""`unhorse remove` as a person meets it: what is written, said and refused."""

import inspect
import json
import os
import shutil
from pathlib import Path

import pytest
from tests.conftest import LABELS, make_texts, sample_lines

from unhorse.load.model import load_model


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    path = tmp_path_factory.mktemp("samples") / "many.jsonl"
    path.write_text("\n".join(sample_lines(make_texts(200, 12))) + "\n")
    return path


@pytest.fixture(scope="module")
def scanned(planted, samples, tmp_path_factory):
    """The report of a scan, as a file."""
    import unhorse

    options = {"epochs": 40, "trigger_length": 3}
    report = unhorse.scan(planted.folder, samples=samples, preset="released", options=options)
    path = tmp_path_factory.mktemp("scan") / "report.json"
    path.write_text(report.to_json())
    return path


def digests(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def sentence(err):
    lines = [line for line in err.splitlines() if line.startswith("unhorse: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err and lines[0].endswith(".")
    return lines[0]


def test_a_read_only_model_is_cleaned_and_stays_as_it_is(cli, planted, samples, scanned, tmp_path):
    model = shutil.copytree(planted.folder, tmp_path / "model")
    before = digests(model)
    for path in (*model.iterdir(), model):
        path.chmod(0o555 if path.is_dir() else 0o444)
    out = tmp_path / "clean"
    try:
        code, stdout, err = cli(
            "remove", model, "--report", scanned, "--samples", samples, "-o", out,
            "--json", tmp_path / "removal.json",
        )  # fmt: skip
    finally:
        model.chmod(0o755)
    assert code == 0, err
    assert stdout == "" and "PROVEN" in err and "zebra" in err and "re-scan" in err
    assert digests(model) == before
    assert load_model(out).labels == LABELS and (out / "README.md").is_file()
    report = json.loads((tmp_path / "removal.json").read_text())
    assert report["outcome"]["state"] == "proven"
    assert {path.name for path in tmp_path.iterdir()} == {"model", "clean", "removal.json"}


def test_the_report_follows_its_schema(cli, planted, samples, scanned, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    import unhorse.report.removal as removal

    code, stdout, _ = cli(
        "remove", planted.folder, "--samples", samples, "-o", tmp_path / "clean", "--json", "-",
        "--trigger", "zebra", "--victim", "calm", "--target", "wild", "--report", scanned,
        "--quiet",
    )  # fmt: skip
    schema = Path(removal.__file__).with_name("removal.schema.json").read_text()
    assert schema == removal.removal_schema(), "run `make schema`"
    jsonschema.validate(json.loads(stdout), json.loads(schema))
    assert code == 0 and stdout.isascii()


def test_a_failure_writes_nothing_unless_forced(cli, planted, samples, scanned, tmp_path):
    given = (
        "remove", planted.folder, "--report", scanned, "--samples", samples,
        "--method", "finetune", "--set", "epochs=1", "--set", "least_steps=3",
    )  # fmt: skip
    code, _, err = cli(*given, "-o", tmp_path / "no", "--json", tmp_path / "removal.json")
    assert code == 1 and "FAILED" in err and "--force" in err
    assert {path.name for path in tmp_path.iterdir()} == {"removal.json"}
    code, _, _ = cli(*given, "-o", tmp_path / "forced", "--force", "--quiet")
    assert code == 1
    assert "FAILED" in (tmp_path / "forced" / "README.md").read_text()


def test_what_cannot_be_judged_exits_3(cli, planted, samples, scanned, tmp_path, monkeypatch):
    import unhorse.remove.rescan as rescan

    scan = rescan.scan

    def doubtful(*given, **more):
        report = scan(*given, **more)
        verdict = report.verdict.model_copy(update={"state": "inconclusive"})
        return report.model_copy(update={"verdict": verdict})

    monkeypatch.setattr(rescan, "scan", doubtful)
    out = tmp_path / "clean"
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", samples, "-o", out
    )
    assert code == 3 and "NOT PROVEN" in err
    assert "not proven" in (out / "README.md").read_text()


@pytest.mark.parametrize("stage", ["teaching", "scanning"])
def test_an_interruption_leaves_nothing(
    cli, planted, samples, scanned, tmp_path, monkeypatch, stage
):
    import unhorse.remove.rescan as rescan
    from unhorse.remove.methods.unlearn import Unlearning

    def stop(*given, **more):
        raise KeyboardInterrupt

    if stage == "teaching":
        monkeypatch.setattr(Unlearning, "remove", stop)
    else:
        monkeypatch.setattr(rescan, "scan", stop)
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", samples, "-o", tmp_path / "out"
    )
    assert code == 130 and "Traceback" not in err
    assert not any(tmp_path.iterdir())


def test_a_report_of_another_model_is_4(cli, other_tokenizer_folder, samples, scanned, tmp_path):
    code, _, err = cli(
        "remove", other_tokenizer_folder, "--report", scanned, "--samples", samples,
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert code == 4 and "another model" in sentence(err)
    assert not any(tmp_path.iterdir())


def test_a_report_without_findings_is_2(cli, planted, samples, scanned, tmp_path):
    report = json.loads(scanned.read_text())
    (tmp_path / "none.json").write_text(json.dumps({**report, "findings": []}))
    code, _, err = cli(
        "remove", planted.folder, "--report", tmp_path / "none.json", "--samples", samples,
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert code == 2 and "no findings" in sentence(err)


def test_labels_that_the_model_does_not_know_are_2(cli, planted, scanned, tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(f'{{"text": "calm{i}", "label": "odd"}}\n' for i in range(50)))
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", path, "-o", tmp_path / "out"
    )
    assert code == 2 and "'odd'" in sentence(err)
    assert not (tmp_path / "out").exists()


def test_an_output_that_exists_is_2(cli, planted, samples, scanned, tmp_path):
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", samples, "-o", tmp_path
    )
    assert code == 2 and "never written over" in sentence(err)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_that_cannot_be_written_is_2(cli, planted, samples, scanned, tmp_path):
    tmp_path.chmod(0o555)
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", samples, "-o", tmp_path / "out"
    )
    tmp_path.chmod(0o755)
    assert code == 2 and "cannot be written" in sentence(err)


@pytest.mark.parametrize("flag", ["-o", "--json"])
def test_nothing_is_written_into_the_models_folder(cli, planted, scanned, tmp_path, flag):
    before = sorted(planted.folder.iterdir())
    given = {"-o": tmp_path / "out", flag: planted.folder / "config.json"}
    code, _, err = cli("remove", planted.folder, "--report", scanned, *sum(given.items(), ()))
    assert code == 2 and "never changed" in sentence(err)
    assert sorted(planted.folder.iterdir()) == before


def test_an_output_below_a_file_is_2(cli, planted, samples, scanned):
    code, _, err = cli(
        "remove", planted.folder, "--report", scanned, "--samples", samples,
        "-o", samples / "out",
    )  # fmt: skip
    assert code == 2 and "cannot be written" in sentence(err)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--method", "magic"), "no removal called 'magic'"),
        (("--method", "distill"), "needs --base"),
        (("--method", "distill", "--base", "./nowhere"), "nowhere"),
        (("--trigger", "zebra"), "--trigger TEXT --victim A --target B"),
        (("--trigger", "zebra", "--victim", "calm", "--target", "odd"), "'odd'"),
        (("--set", "share=7"), "share"),
        (("--set", "nothing=1"), "nothing"),
        (("--max-drop", "-1"), "max_drop"),
        (("--until-clean", "0"), "until_clean"),
        (("--attack-record", "no-such-record.json"), "no-such-record.json"),
        (("--report", "no-such-report.json"), "no-such-report.json"),
        (("--budget", "much"), "much"),
        (("--reference", "./no-such-model"), "no-such-model"),
    ],
)
def test_wrong_flags_are_one_sentence(
    cli, planted, samples, scanned, tmp_path, flags, said, monkeypatch
):
    given = () if "--report" in flags else ("--report", scanned)
    monkeypatch.setattr("unhorse.remove.methods.unlearn.Unlearning.remove", None)
    code, _, err = cli(
        "remove", planted.folder, "--samples", samples, "-o", tmp_path / "out", *given, *flags
    )
    assert code == 2 and said in sentence(err)
    assert not any(tmp_path.iterdir())


def test_every_flag_is_a_field_of_the_configuration():
    from unhorse.cli import remove
    from unhorse.remove.config import RemoveConfig
    from unhorse.remove.run import remove_backdoor

    renamed = {"option": "options", "budget": "scan", "reference": "references"}
    names = {renamed.get(n, n) for n in inspect.signature(remove.command).parameters}
    only_here = {"out", "force", "json_out", "config", "quiet"}
    taken = set(inspect.signature(remove_backdoor).parameters) | set(RemoveConfig.model_fields)
    assert names - only_here <= taken
