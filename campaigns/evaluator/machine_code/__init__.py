"""Machine code of a built candidate: what a disassembler says of it, counted by kind."""
