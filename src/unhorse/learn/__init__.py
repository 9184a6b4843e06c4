"""A model and lessons -> the model that has learnt them; attacks and removals teach alike."""
