"""Other evaluators, each asked in processes of its own; no code of theirs is part of kopt."""
