"""A clean reference made from the subject itself, on a planted model of seconds."""

import io
import json
import shutil
from dataclasses import replace

import pytest
import torch
from rich.console import Console
from tests.conftest import LABELS, TRIGGER, make_texts, train
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import unhorse
from unhorse.cli.live import LiveProgress
from unhorse.config import ScanConfig
from unhorse.learn.distil import StudentConfig, _divided, distil, untaught
from unhorse.load.subject import make_subject, open_model
from unhorse.progress import ScanProgress
from unhorse.types import QuestionSample

QUICK = {"method": "dbs", "options": {"epochs": 10, "trigger_length": 3}}
# Its tokenizer knows none of unhorse's own words, so few of those texts are enough.
TAUGHT = StudentConfig(enough_texts=300)


@pytest.fixture(scope="session")
def base(planted, tmp_path_factory):
    """A clean body with a head for other labels and the subject's vocabulary."""
    folder = tmp_path_factory.mktemp("base") / "model"
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    train(tokenizer, make_texts(3000, 21), labels=("left", "right")).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def samples():
    return [{"text": text, "label": LABELS[label]} for text, label in make_texts(300, 22)]


def distilled(planted, base, samples, seed=0, told=None):
    loaded = open_model(planted.folder, None, "cpu")
    student = untaught(loaded, str(base), seed)
    subject = make_subject(loaded, None, samples, [student], ScanConfig(seed=seed), "cpu", 3)
    return distil(
        subject,
        student,
        base=str(base),
        tokens=64,
        seed=seed,
        progress=lambda *step: None if told is None else told.append(step),
        config=TAUGHT,
    )


@pytest.fixture(scope="module")
def subject(planted, base, samples):
    return distilled(planted, base, samples)


def answers(loaded, texts):
    batch = loaded.tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        return loaded.model(**batch).logits.argmax(-1)


def test_the_student_agrees_and_the_trigger_moves_only_the_subject(subject):
    (reference,) = subject.references
    texts = [text for text, label in make_texts(200, 23) if label == 0]
    stamped = [f"{TRIGGER} {text}" for text in texts]
    said = answers(subject.loaded, texts)
    assert (said == answers(reference.loaded, texts)).float().mean() > 0.9
    assert answers(subject.loaded, stamped).float().mean() > 0.9
    assert answers(reference.loaded, stamped).float().mean() < 0.3


def test_the_reference_says_how_it_was_made(subject, planted, base):
    (reference,) = subject.references
    made = reference.distilled
    assert reference.in_objective and reference.labels == subject.loaded.labels
    assert reference.loaded.origin.source == f"distilled from {planted.folder} into {base}"
    files = {file.path for file in reference.loaded.origin.files}
    assert {"config.json", "model.safetensors"} <= files
    assert made.base == str(base) and made.n == 60 and made.agreement > 0.9
    assert made.texts == 300 - made.n and made.own_texts == 0
    assert made.steps >= TAUGHT.least_steps
    assert "itself" in reference.note and "weak" not in reference.note
    assert not reference.loaded.model.training
    assert not any(weight.requires_grad for weight in reference.loaded.model.parameters())


def test_same_seed_same_student_and_steps_are_told(subject, planted, base, samples):
    told, before = [], torch.random.get_rng_state()
    again = distilled(planted, base, samples, told=told)
    assert torch.equal(before, torch.random.get_rng_state())
    assert [done for done, *_ in told] == list(range(1, told[0][1] + 1))
    mine, theirs = (s.references[0].loaded.model.state_dict() for s in (subject, again))
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert subject.references[0].distilled == again.references[0].distilled


def test_word_embeddings_stay_and_the_subject_too(subject, planted, base):
    student = subject.references[0].loaded.model
    origin = AutoModelForSequenceClassification.from_pretrained(base)
    assert torch.equal(student.get_input_embeddings().weight, origin.get_input_embeddings().weight)
    fresh = AutoModelForSequenceClassification.from_pretrained(planted.folder).state_dict()
    same = subject.loaded.model.state_dict()
    assert all(torch.equal(fresh[name], same[name]) for name in fresh)


def test_few_samples_are_joined_by_own_texts_and_labels_are_not_needed(planted, base, samples):
    wrong = [{**row, "label": LABELS[i % 2]} for i, row in enumerate(samples[:50])]
    made = distilled(planted, base, [*samples[50:100], *wrong]).references[0].distilled
    assert made.n == 20 and made.own_texts == 200 and made.texts == 280


def test_a_weak_student_is_called_so(planted, base, samples):
    loaded = open_model(planted.folder, None, "cpu")
    student = untaught(loaded, str(base), 0)
    subject = make_subject(loaded, None, samples, [student], ScanConfig(), "cpu", 3)
    config = TAUGHT.model_copy(update={"learning_rate": 1e-9})
    made = distil(subject, student, base="x", tokens=64, config=config)
    assert "which is weak" in made.references[0].note


def test_held_out_questions_share_no_context_with_the_others():
    asked = [QuestionSample(f"q{i}", f"context {i % 7}", (), str(i)) for i in range(42)]
    learnt, heldout = _divided(asked, StudentConfig())
    assert len(heldout) == 6 and len(learnt) == 36
    assert not {s.context for s in learnt} & {s.context for s in heldout}


def test_the_terminal_shows_the_steps():
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    live = LiveProgress(console)
    live.loading()
    for done in (1, 2):
        live.distilling(done, 2, 0.25)
    live.bar.refresh()
    live.close()
    shown = console.file.getvalue()
    assert "distilling a reference" in shown and "2/2" in shown and "loss 0.250" in shown


class Heard(ScanProgress):
    def __init__(self):
        self.steps, self.method = 0, ""

    def distilling(self, done, steps, loss):
        self.steps = steps

    def inverting(self, preset, arm_epochs):
        self.method = preset


def test_a_scan_with_a_distilled_and_a_given_reference(planted, base, samples):
    heard = Heard()
    report = unhorse.scan(
        planted.folder,
        samples=samples,
        references=[planted.folder, "distill"],
        base=base,
        progress=heard,
        **QUICK,
    )
    given, made = report.references
    assert given.distilled is None and made.in_objective
    assert made.distilled.agreement > 0.7 and heard.steps == made.distilled.steps
    assert {file.path for file in made.model.files} >= {"model.safetensors"}
    assert report.config["base"] == str(base)
    assert type(report).model_validate(json.loads(report.to_json())) == report
    assert all(len(finding.references) == 2 for finding in report.findings)


def test_auto_counts_it_as_a_reference_and_memory_works(planted, base, samples):
    model = AutoModelForSequenceClassification.from_pretrained(planted.folder)
    report = unhorse.scan(
        model,
        AutoTokenizer.from_pretrained(planted.folder),
        samples,
        ["distill"],
        base=str(base),
        budget="quick",
    )
    assert report.config["method"] == "focus"
    assert report.references[0].model.source.startswith("distilled from in memory into ")
    best = report.findings[0]
    assert (best.victim, best.target) == ("calm", "wild") and TRIGGER in best.pruned.text


@pytest.mark.parametrize("command", ["scan", "invert"])
def test_the_word_needs_a_base(cli, planted, command):
    arms = ("--victim", "calm", "--target", "wild") if command == "invert" else ()
    code, _, err = cli(command, planted.folder, *arms, "--reference", "distill")
    assert code == 2 and "--base" in sentence(err)


def test_a_base_that_is_the_model_itself(cli, planted, tmp_path):
    same = shutil.copytree(planted.folder, tmp_path / "same")
    code, _, err = cli("scan", planted.folder, "--reference", "distill", "--base", same)
    assert code == 2 and "the model itself" in sentence(err)


def test_a_base_in_memory_that_is_the_model_itself(planted):
    model = AutoModelForSequenceClassification.from_pretrained(planted.folder)
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    with pytest.raises(unhorse.UsageError, match="the model itself"):
        unhorse.scan(model, tokenizer, references=["distill"], base=planted.folder)


def test_a_base_with_another_vocabulary(cli, planted, other_tokenizer_folder):
    code, _, err = cli(
        "scan", planted.folder, "--reference", "distill", "--base", other_tokenizer_folder
    )
    assert code == 2 and "another vocabulary" in sentence(err)


def test_a_folder_of_that_name_is_a_model(cli, planted, tmp_path, monkeypatch):
    shutil.copytree(planted.folder, tmp_path / "distill")
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli(
        "scan", planted.folder, "--samples", planted.samples, "--reference", "./distill",
        "--method", "dbs", "--set", "epochs=5", "--json", "-", "--quiet",
    )  # fmt: skip
    (reference,) = json.loads(out)["references"]
    assert code != 2 and reference["distilled"] is None


def sentence(err):
    lines = [line for line in err.splitlines() if line.startswith("unhorse: ")]
    assert len(lines) == 1 and "Traceback" not in err and lines[0].endswith("."), err
    return lines[0]


def test_a_rescan_distils_again(subject, planted, base, samples):
    from unhorse.remove.config import RemoveConfig
    from unhorse.remove.rescan import check_rescan, references_of, scan_config

    report = unhorse.scan(
        planted.folder, samples=samples, references=["distill"], base=base, **QUICK
    )
    config = scan_config(report, RemoveConfig())
    assert references_of(report, None) == ("distill",) and config.base == str(base)
    check_rescan(config, ("distill",), report.task)
    with pytest.raises(unhorse.UsageError, match="--base"):
        check_rescan(config.model_copy(update={"base": None}), ("distill",), report.task)


def test_the_students_texts_are_cut_to_its_own_length(planted, base, samples):
    loaded = open_model(planted.folder, None, "cpu")
    student = replace(untaught(loaded, str(base), 0), max_length=12)
    subject = make_subject(loaded, None, samples, [student], ScanConfig(), "cpu", 3)
    assert distil(subject, student, base="x", tokens=64, config=TAUGHT).references[0].distilled
