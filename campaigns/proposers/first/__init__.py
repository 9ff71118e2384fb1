"""The first kernel of a problem that has none: what torch's Inductor writes, as an ordinary file.

Everything here reads and writes text. The text comes out of a sandbox and is not trusted: it ends
in a candidate, which is judged like any other.
"""
