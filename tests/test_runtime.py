"""Precision and attention are chosen by what the processor can do."""

from types import SimpleNamespace

import pytest
import torch

import unhorse
from unhorse.errors import UsageError
from unhorse.runtime import choose_runtime, fitted, is_out_of_memory, learning_precision


def can_do(monkeypatch, **capabilities):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)


@pytest.mark.parametrize(
    ("capabilities", "dtype", "attention"),
    [
        ({"amx_bf16": True}, "bf16", "eager"),
        ({"avx512_bf16": True}, "bf16", "eager"),
        ({"avx512_bf16": True, "avx512_fp16": True}, "fp32", "sdpa"),
        ({"avx512_bf16": True, "avx512_fp16": True, "amx_bf16": True}, "bf16", "eager"),
        ({"avx512_f": True}, "fp32", "sdpa"),
    ],
)
def test_bf16_only_where_the_cpu_multiplies_it(monkeypatch, capabilities, dtype, attention):
    can_do(monkeypatch, **capabilities)
    runtime = choose_runtime("cpu")
    assert (runtime.dtype, runtime.attention) == (dtype, attention)
    assert "in hardware" in runtime.why


@pytest.mark.parametrize(("width", "dtype"), [(64, "fp32"), (384, "bf16")])
def test_narrow_models_stay_in_fp32_unless_bf16_is_asked_for(monkeypatch, width, dtype):
    can_do(monkeypatch, amx_bf16=True)
    model = SimpleNamespace(config=SimpleNamespace(hidden_size=width), device=torch.device("cpu"))
    assert fitted(choose_runtime("cpu"), model).dtype == dtype
    assert fitted(choose_runtime("cpu", "bf16"), model).dtype == "bf16"
    with learning_precision(model):
        assert torch.is_autocast_enabled("cpu") is (dtype == "bf16")


def test_a_torch_that_cannot_tell_gets_fp32(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert choose_runtime("cpu").dtype == "fp32"


def test_the_choice_can_be_overridden():
    runtime = choose_runtime("cpu", "bf16")
    assert (runtime.dtype, runtime.attention, runtime.why) == ("bf16", "eager", "asked for")


def test_unknown_device():
    with pytest.raises(UsageError, match="abacus"):
        choose_runtime("abacus")


def test_optimising_in_bf16_leaves_the_evidence_in_fp32(planted):
    report = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        dtype="bf16",
        options={"epochs": 6, "trigger_length": 2},
        positions=("end",),
        preset="paper",
    )
    assert (report.dtype, report.attention) == ("bf16", "eager")
    again = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        options={"epochs": 6, "trigger_length": 2},
        positions=("end",),
        preset="paper",
    )
    # The same text has the same evidence, whatever the optimiser computed in.
    texts = {f.text: f.heldout for f in report.findings}
    for finding in again.findings:
        if finding.text in texts:
            assert finding.heldout == texts[finding.text]
    assert report.curves[0].loss == pytest.approx(again.curves[0].loss, rel=0.2)


def test_what_counts_as_out_of_memory():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate"))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
