"""What is kept of a report says nothing of where things lay."""

from types import SimpleNamespace

from unhorse.bench.record import _renamed
from unhorse.report.schema import ReferenceRecord, TurnedRecord

from .made import measured, trigger

PLACE = "/somewhere/zoo/suite/clean/model"


def test_clean_models_are_named_and_not_located():
    turned = TurnedRecord(source=PLACE, text="a", losses=(1.0,), asr=0.5, n=10)
    beside = ReferenceRecord(
        source=PLACE,
        loss=1.0,
        asr=0.5,
        n=10,
        interval=(0.2, 0.8),
        pruned=measured(),
        in_objective=True,
    )
    found = trigger(turned=turned, references=(beside,))
    kept = _renamed(found, SimpleNamespace(reference_name="suite/clean"))
    assert (kept.turned.source, kept.references[0].source) == ("suite/clean", "suite/clean")
    assert PLACE not in kept.model_dump_json()
