"""A problem's `ref.py`: foreign code, in a process of its own that is locked down as runners are.

    judge ── ServedCode (client) ──socket, shared memory── ReferenceServer (serve) ── ProblemCode

Nothing else imports `code`, so no process with a secret, a database, the network or the clock ever
runs what an author of a problem wrote.
"""
