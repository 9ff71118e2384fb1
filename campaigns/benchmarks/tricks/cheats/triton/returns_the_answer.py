# trick: returns a right answer and leaves the output as it is
# problem: scale N=200
# outcome: wrong_result
# says: never written
def run_kernel(x, y, N):
    return 2 * x
