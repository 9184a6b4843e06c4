"""Subject, triggers and samples -> a cleaned model and the proof that it is one."""
