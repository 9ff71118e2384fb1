"""Git repositories that their own tests and benchmarks make faster, with all layers (R9)."""
