"""Repositories that are optimised by their own harness, and the rounds of each."""
