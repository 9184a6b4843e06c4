"""nothing -> a small model with a planted backdoor, and a clean one."""
