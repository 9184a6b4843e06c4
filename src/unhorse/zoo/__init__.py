"""A suite file -> many built models, a check of every one, and an audit of all together."""
