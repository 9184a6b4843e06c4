"""A recipe, data and a base model -> a model folder with its record beside it.

An attack plants a backdoor; its clean twin goes through the same training without
one. Both come with a record that says what was done and what was measured.
"""
