# trick: a run_kernel that launches nothing
# problem: scale N=200
# outcome: wrong_result
# says: never written
def run_kernel(x, y, N):
    pass
