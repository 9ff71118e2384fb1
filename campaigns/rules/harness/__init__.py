"""A project's own harness (R9): its description, and what follows from the tables it writes."""
