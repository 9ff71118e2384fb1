"""The same candidates through several evaluators: who believes the dishonest, who not the honest.

`trick` reads a candidate, `form` presents it, `peers` has it evaluated elsewhere, each time in
processes of its own (`keep`), `ours` evaluates it here, `contest` runs them all, `page` writes the
table. No code of another project is part of this one: the command line names their folders.
"""
