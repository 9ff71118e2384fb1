"""Pages of repositories that are optimised by their own harness."""
