# trick: says in the runner's own words that this host can not run it, to be measured again
# problem: scale N=200
# outcome: crashed
from campaigns.evaluator.contract.errors import Unsupported


def run_kernel(x, y, N):
    raise Unsupported("no such device")
