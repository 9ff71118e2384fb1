"""A problem's own code, in a process of its own that is locked down as runners are.

Nothing else imports `code`, so no process with a secret, a database, the network or the clock ever
runs what an author of a problem wrote.
"""
