"""What judge and reference say to each other. A problem's `ref.py` is foreign code.

    judge ── ServedCode ──socket, shared memory── ReferenceServer (problem_code) ── ProblemCode

The two sides share what is asked (`calls`, `messages`), the memory, and the contract to which the
functions of a problem are held (`reference`).
"""
