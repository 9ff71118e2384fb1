"""Repositories and their rounds, as pages and commands show them."""
