"""Run a project's own harness: its commands, locked down, in trees of its files."""
