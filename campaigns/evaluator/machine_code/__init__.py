"""What a compiler made of a candidate: its machine code, read and counted (R48).

`read` builds a candidate and has a disassembler of this host list it, `listing` reads the list, and
`kinds` says what an instruction does.
"""
