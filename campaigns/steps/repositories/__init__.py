"""Repositories that are optimised by their own harness: bring, hand in, try, stop."""
