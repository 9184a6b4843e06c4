"""Stored results of labelled models -> a Profile, and stored results decided again by it."""
