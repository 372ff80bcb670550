"""Speed, measured by hand: ``python -m tests.bench``; nothing in here asserts a time."""
