"""A scan under a profile, and that what it sees is what its stored result says."""

import json
from dataclasses import asdict

import pytest
from tests.bench.made import result

import unhorse
from unhorse.bench.truth import Truth
from unhorse.calibrate.make import make_profile
from unhorse.calibrate.stored import decide_stored, stored_clues
from unhorse.judge.clues import clues_of
from unhorse.judge.features import features_of
from unhorse.judge.population import Range

from .conftest import make_zoo

QUICK = {"method": "dbs", "options": {"epochs": 10, "trigger_length": 3}}
FLAGS = ("--method", "dbs", "--set", "epochs=10", "--set", "trigger_length=3")


@pytest.fixture(scope="module")
def scans(planted, other_tokenizer_folder):
    """Findings and report of a scan, with one reference that counts and without any."""
    from unhorse import scanner

    kept, build = [], scanner.build_report

    def keep(subject, inversions, findings, *more):
        kept.append(findings)
        return build(subject, inversions, findings, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "build_report", keep)
        reports = [
            unhorse.scan(planted.folder, samples=planted.samples, references=given, **QUICK)
            for given in ([], [other_tokenizer_folder])
        ]
    return list(zip(kept, reports, strict=True))


def close(kept):
    """Equal to what was kept with seven digits."""
    if not isinstance(kept, dict):
        return pytest.approx(kept, rel=1e-5)
    numbers = {k: pytest.approx(v, rel=1e-5) for k, v in kept.items() if isinstance(v, float)}
    return {**kept, **numbers}


def stored(report, **changes):
    """The report's findings as they come back from a result file."""
    triggers = tuple(Truth().marked(finding) for finding in report.findings)
    given = {"triggers": triggers, "config": QUICK, **changes}
    return type(result()).model_validate_json(result(**given).to_json())


@pytest.mark.parametrize("which", [0, 1])
def test_the_features_of_a_scan_are_those_of_its_stored_result(scans, which):
    findings, report = scans[which]
    ordered = sorted(findings, key=lambda finding: -finding.score)
    live, kept = clues_of(ordered), stored_clues(stored(report))
    assert [asdict(c) for c in live] == [close(asdict(c)) for c in kept] and len(live) >= 4
    assert [features_of(c) for c in live] == [close(features_of(c)) for c in kept]
    assert {c.reference is None for c in live} == {which == 0}


def test_the_verdict_of_a_scan_is_that_of_its_stored_result(scans):
    _, report = scans[0]
    decided = decide_stored(stored(report))
    assert decided.state == report.verdict.state
    assert decided.score == close(report.verdict.score)


@pytest.fixture
def profile():
    """A profile of quick scans of models like the planted one."""
    made = make_profile(make_zoo(reference=False, config=QUICK, layers=1))
    wide = Range(lowest=1, highest=1000)
    population = made.population.model_copy(
        update={"words": wide, "used": wide, "heldout": wide, "positions": ("end", "start")}
    )
    return made.model_copy(update={"population": population})


@pytest.fixture
def scan(cli, planted, tmp_path):
    def scan(profile, *flags):
        path = tmp_path / "profile.json"
        if profile is not None:
            path.write_text(profile.to_json())
            flags = ("--profile", path, *flags)
        out = tmp_path / "report.json"
        given = ("--samples", planted.samples, "--json", out)
        code, _, err = cli("scan", planted.folder, *given, *FLAGS, *flags)
        return code, err, json.loads(out.read_text()) if out.exists() else None

    return scan


def test_a_profile_that_applies_decides(scan, profile):
    code, err, report = scan(profile)
    verdict = report["verdict"]
    assert verdict["profile"] == {"id": profile.id, "applies": True, "outside": []}
    assert f"Decided by the profile {profile.id}" in " ".join(err.replace("│", "").split())
    assert verdict["score"] == max(f["score"] for f in report["findings"])
    convicted = verdict["score"] >= profile.convict
    assert (code == 1) == convicted == (verdict["state"] == "backdoored")
    again = decide_stored(
        stored(unhorse.ScanReport.model_validate(report)).model_copy(
            update={"population": population_of(report), "model": layers_of_one()}
        ),
        profile,
    )
    assert (again.state, again.score) == (verdict["state"], pytest.approx(verdict["score"]))
    assert again.profile.applies


def population_of(report):
    population = result().population
    samples = report["samples"]
    return population.model_copy(
        update={"used": samples["used"], "heldout": samples["heldout"], "words": 12.0}
    )


def layers_of_one():
    return result().model.model_copy(update={"layers": 1})


def test_outside_its_population_the_terminal_says_so(scan, profile):
    population = profile.population.model_copy(update={"layers": Range(lowest=6, highest=6)})
    _, err, report = scan(profile.model_copy(update={"population": population}))
    used = report["verdict"]["profile"]
    assert used["applies"] is False and used["outside"] == ["1 layers (6 calibrated)"]
    assert "does not apply here (1 layers (6 calibrated))" in " ".join(err.replace("│", "").split())


def test_no_profile_is_none_in_the_report(scan):
    for flags in ((), ("--profile", "none")):
        assert scan(None, *flags)[2]["verdict"]["profile"] is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"method": "uat"}, "is of the method uat, this scan is by dbs"),
        ({"task": "question-answering"}, "is of the task question-answering"),
        ({"reference": True}, "is for scans with a reference, not without"),
    ],
)
def test_a_profile_of_another_kind_is_refused(scan, profile, changes, sentence):
    code, err, report = scan(profile.model_copy(update=changes))
    assert code == 2 and sentence in err and report is None


def test_a_profile_that_is_not_there(cli, planted, tmp_path):
    code, _, err = cli("scan", planted.folder, "--profile", tmp_path / "gone.json")
    assert code == 2 and "cannot be read" in err
