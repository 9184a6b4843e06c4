"""Verdict and evidence -> files and terminal."""
