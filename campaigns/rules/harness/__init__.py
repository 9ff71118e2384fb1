"""A project's own harness (R9): its description, the table it writes, what follows from it."""
