"""Which strategies to try next, by what was tried before (R38)."""
