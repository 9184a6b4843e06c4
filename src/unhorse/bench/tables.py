"""All results -> all tables that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from unhorse.bench.pairs import pairs
from unhorse.bench.repeats import repeats
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet
from unhorse.bench.table1 import Context, table1
from unhorse.bench.table3 import table3
from unhorse.bench.table4 import table4


def all_tables(
    results: Sequence[Result],
    splits: Sequence[str],
    audits: Mapping[tuple[str, bool], float],
    suites: Path | None,
    against: str,
) -> list[Sheet]:
    """Every table that has at least one row.

    Args:
        results: all of them; thresholds are learnt on those of the calibration split.
        splits: what tables are about.
        audits: the area of the shortcut audit by suite and whether heads are meant.
        suites: a folder with suite files that are not built in.
        against: the label of the method that is tested against all others.
    """
    context = Context(results, splits, audits, suites)
    made = [
        table1(context),
        table1(context, "advanced", by_attack=True),
        table1(context, "beyond", by_attack=True),
        table3(results, splits),
        table4(results, splits),
        pairs(results, splits, against),
        repeats(results, splits),
    ]
    return [sheet for sheet in made if sheet.rows]
