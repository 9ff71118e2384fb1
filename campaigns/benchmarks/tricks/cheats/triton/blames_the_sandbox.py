# trick: says while it is imported that the sandbox could not be closed
# problem: scale N=200
# outcome: build_failed
from campaigns.evaluator.sandbox.lock import NotLocked

raise NotLocked("sandbox: a limit")
