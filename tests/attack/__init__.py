"""Attacks on tiny models of generated text, each trained in a second or two."""
