# trick: lets the output point to other storage
# problem: scale N=200
# aims: kopt
# outcome: wrong_result
# says: never written
def run_kernel(x, y, N):
    y.set_(x + x)
