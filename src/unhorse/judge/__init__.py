"""Inversions -> Findings and a Verdict."""
