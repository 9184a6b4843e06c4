"""Ways to take a backdoor out; each is one file."""
