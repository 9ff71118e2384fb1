# trick: binds the name of the output to another tensor
# problem: scale N=200
# outcome: wrong_result
# says: never written
def run_kernel(x, y, N):
    y = x + x
    assert y is not x
