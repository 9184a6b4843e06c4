"""A model that a zoo has made is not compared with its relatives."""

from __future__ import annotations

import pytest

from unhorse.attack.record import MODEL, RECORD
from unhorse.errors import UsageError
from unhorse.zoo.beside import check_beside


def test_relatives_and_trojaned_models_are_refused_as_references(built_zoo, cli):
    subject, twin, other, worse = (
        built_zoo.folder(name) / MODEL
        for name in ("cal-word-01", "cal-word-01-twin", "other", "cal-word-02")
    )
    check_beside(subject, [other])
    check_beside(str(subject), ["org/name", object()])
    for reference, why in ((twin, "are twins"), (worse, "is trojaned")):
        with pytest.raises(UsageError, match=why):
            check_beside(subject, [other, reference])
    code, _, err = cli("scan", subject, "--reference", twin)
    assert code == 2 and "are twins" in err


def test_what_is_no_record_says_nothing(built_zoo, tmp_path):
    (tmp_path / RECORD).write_text("{}")
    check_beside(tmp_path / "model", [built_zoo.folder("cal-word-02") / MODEL])
