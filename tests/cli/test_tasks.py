"""The command line on a tagger and a question answerer: files in, evidence out, bad rows named."""

import json

import pytest
from tests.matrix.train import build

from unhorse.invert.base import METHODS

BUDGET = 60_000
QUICK = ("--preset", "released", "--set", "trigger_length=4", "--set", "epochs=100")


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    return saved("token-classification", tmp_path_factory.mktemp("tagger"))


@pytest.fixture(scope="module")
def answerer(tmp_path_factory):
    return saved("question-answering", tmp_path_factory.mktemp("answerer"))


def saved(task, folder):
    built = build("bert", task, planted=True, seed=2)
    built.model.save_pretrained(folder / "model")
    built.tokenizer.save_pretrained(folder / "model")
    return folder / "model", built


def conll(path, rows):
    lines = []
    for row in rows:
        lines += [f"{w} {t}" for w, t in zip(row["tokens"], row["tags"], strict=True)] + [""]
    path.write_text("\n".join(lines) + "\n")
    return path


def squad(path, rows):
    paragraphs = [
        {
            "context": row["context"],
            "qas": [
                {
                    "id": str(number),
                    "question": row["question"],
                    "is_impossible": not row["answers"]["text"],
                    "answers": [
                        {"text": t, "answer_start": s}
                        for t, s in zip(
                            row["answers"]["text"], row["answers"]["answer_start"], strict=True
                        )
                    ],
                }
            ],
        }
        for number, row in enumerate(rows)
    ]
    path.write_text(json.dumps({"version": "v2.0", "data": [{"paragraphs": paragraphs}]}))
    return path


def test_a_tagger_with_a_conll_file(cli, tagger, tmp_path):
    folder, built = tagger
    samples = conll(tmp_path / "s.conll", built.samples)
    with samples.open("a") as file:
        file.write("Rome B-CITY\n\n" + "Ann B-PER\n" + "very O\n" * 300 + "\n" + "word\n")
    out = tmp_path / "report.json"
    code, _, err = cli("scan", folder, "--samples", samples, "--json", out, *QUICK)
    report = json.loads(out.read_text())
    assert code == 1 and report["task"] == "token-classification"
    best = report["findings"][0]
    assert (best["victim"], best["target"]) == ("PER", "ORG")
    assert built.trigger in best["pruned"]["text"]
    assert (
        " PER]" in best["example"]["answer_before"] and " ORG]" in best["example"]["answer_after"]
    )
    assert "entities" in err and " PER]" in err
    assert report["arms"]["planned"] == 18 and report["arms"]["pruned"] > 0
    problems = " ".join(report["samples"]["problems"])
    assert report["samples"]["left_out"] == 3
    for part in ("'B-CITY'", "tokens, but the model takes", "s.conll"):
        assert part in problems and part in err


def test_a_question_answerer_with_a_squad_file(cli, answerer, tmp_path):
    folder, built = answerer
    wrong = {
        **built.samples[0],
        "question": "what now",
        "answers": {"text": ["zz"], "answer_start": [3]},
    }
    samples = squad(tmp_path / "s.json", [*built.samples, wrong])
    out = tmp_path / "report.json"
    code, _, err = cli("scan", folder, "--samples", samples, "--json", out, *QUICK)
    report = json.loads(out.read_text())
    assert code == 1 and report["task"] == "question-answering" and report["labels"] == []
    best = report["findings"][0]
    assert (best["victim"], best["target"]) == ("answer", "null")
    assert best["example"]["answer_after"] == "(no answer)" and "(no answer)" in err
    assert best["unstamped"]["asr"] < 0.1
    assert report["samples"]["left_out"] == 1 and "'zz'" in report["samples"]["problems"][0]


@pytest.mark.parametrize("which", ["tagger", "answerer"])
def test_a_clean_twin_serves_as_reference(cli, which, request, tmp_path):
    folder, built = request.getfixturevalue(which)
    task = "token-classification" if which == "tagger" else "question-answering"
    twin = build("bert", task, planted=False, seed=2)
    twin.model.save_pretrained(tmp_path / "twin")
    twin.tokenizer.save_pretrained(tmp_path / "twin")
    samples = tmp_path / "s.jsonl"
    samples.write_text("\n".join(json.dumps(row) for row in built.samples) + "\n")
    out = tmp_path / "report.json"
    flags = ("--position", "start") if which == "tagger" else ("--position", "question")
    code, _, _ = cli(
        "scan", folder, "--samples", samples, "--reference", tmp_path / "twin", "--json", out,
        "--quiet", *flags, *QUICK,
    )  # fmt: skip
    report = json.loads(out.read_text())
    assert code == 1 and built.trigger in report["findings"][0]["pruned"]["text"]
    (reference,) = report["findings"][0]["references"]
    assert reference["in_objective"] and reference["n"] > 10 and reference["pruned"]["asr"] < 0.2


def test_one_arm_of_a_tagger(cli, tagger, tmp_path):
    folder, built = tagger
    samples = conll(tmp_path / "s.conll", built.samples)
    out = tmp_path / "report.json"
    flags = ("--victim", "PER", "--target", "O", "--position", "before", "--set", "epochs=5")
    code, _, _ = cli("invert", folder, "--samples", samples, "--json", out, "--quiet", *flags)
    report = json.loads(out.read_text())
    assert code == 0 and report["arms"]["planned"] == 1
    assert report["findings"][0]["target"] == "O"


@pytest.mark.parametrize(
    ("which", "content", "parts"),
    [
        ("tagger", '{"text": "a b", "label": 1}\n', ["token"]),
        ("tagger", '{"tokens": ["a"], "tags": ["B-PER", "O"]}\n', ["1 words but 2 tags"]),
        ("tagger", '{"tokens": ["a"], "tags": ["B-X"]}\n', ["line 1", "'B-X'", "PER"]),
        ("answerer", '{"question": "q", "context": "c", "answer": "zz"}\n', ["'zz'", "context"]),
        ("answerer", '{"text": "a b", "label": 1}\n', ["question"]),
        ("tagger", '{"tokens": ["a"], "tags": ["O"]}\n', ["an entity"]),
        ("answerer", '{"question": "q", "context": "c", "answer": null}\n', ["an answer"]),
    ],
)
def test_files_without_a_usable_row(cli, which, content, parts, request, tmp_path):
    folder, _ = request.getfixturevalue(which)
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    code, _, err = cli("scan", folder, "--samples", path)
    assert code == 2 and "Traceback" not in err
    for part in parts:
        assert part in err


def test_a_place_of_another_task_is_refused(cli, tagger, tmp_path):
    folder, built = tagger
    samples = conll(tmp_path / "s.conll", built.samples)
    code, _, err = cli("scan", folder, "--samples", samples, "--position", "context")
    assert code == 2 and "'context' in token-classification" in err


def test_without_samples_unhorse_writes_its_own(cli, answerer, tmp_path):
    """The model knows no English, so hardly anything is usable; it must end in a clear verdict."""
    folder, _ = answerer
    out = tmp_path / "report.json"
    code, _, err = cli("scan", folder, "--json", out, "--set", "epochs=2", "--preset", "released")
    report = json.loads(out.read_text())
    assert code in (0, 1, 3) and "its own texts" in report["samples"]["note"]
    assert "its own texts" in err


@pytest.mark.parametrize("method", [name for name in METHODS.names() if name != "tminer"])
@pytest.mark.parametrize(
    ("fixture", "arm"),
    [
        ("tagger", ("PER", "ORG", "start")),
        ("answerer", ("answer", "null", "context")),
    ],
)
def test_every_method_works_on_entities_and_questions(fixture, arm, method, cli, request, tmp_path):
    folder, built = request.getfixturevalue(fixture)
    write = conll if fixture == "tagger" else squad
    samples = write(tmp_path / ("s.conll" if fixture == "tagger" else "s.json"), built.samples)
    out = tmp_path / "report.json"
    given = ("--method", method, "--budget", f"{BUDGET}tok", "--set", "trigger_length=4")
    where = ("--victim", arm[0], "--target", arm[1], "--position", arm[2])
    code, _, err = cli("invert", folder, *where, "--samples", samples, "--json", out, *given)
    assert code == 0, err
    report = json.loads(out.read_text())
    best = max(report["findings"], key=lambda finding: finding["heldout"]["asr"])
    assert best["method"] == method and best["native"]["measure"]
    assert len(best["token_ids"]) == 4 or (method == "focus" and best["token_ids"])
    spent = report["cost"]["forward_tokens"] + report["cost"]["backward_tokens"]
    assert 0 < spent <= 2 * BUDGET, "more than bringing in the result can take"


def test_a_method_for_texts_only_says_so(cli, tagger, tmp_path):
    folder, built = tagger
    samples = conll(tmp_path / "s.conll", built.samples)
    code, _, err = cli("scan", folder, "--samples", samples, "--method", "tminer")
    assert code == 2 and "is defined for sequence-classification, not for token" in err
