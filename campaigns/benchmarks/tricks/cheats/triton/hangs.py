# trick: loops for ever in Python
# problem: scale N=200
# outcome: timed_out
def run_kernel(x, y, N):
    while True:
        pass
