"""C++ and CUDA files without a `solve`, as most are."""

import tomllib

import pytest

from campaigns.problems.import_.draft import DraftError, Given, Role
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from tests.campaigns.problems.import_.sources import ADD_BIAS

KERNEL = """
__global__ void add(const float* x, const float* b, float* y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * c) y[i] = x[i] + b[i % c];
}
"""
LAUNCHER = """
void add_rows(float* y, const float* x, const float* b, int n, int c, const int block) {
  add<<<(n * c + block - 1) / block, block>>>(x, b, y, n, c);
}
int main() { return 0; }
"""
FIXED = """
extern "C" void add_all(float *x, float *b, float *y) {
  for (int i = 0; i < 32 * 48; ++i) y[i] = x[i] + b[i % 48];
}
"""
CALL = "n, c = 32, 48; add_bias(torch.randn(n, c), torch.randn(c))"


def proposed(kernel, file_name="add.cu", call=CALL, **more):
    return propose(Given(file_name, kernel, "ref.py", ADD_BIAS, calls=(call,), **more))


def test_the_only_host_function_with_pointers_and_numbers_is_called_by_a_solve():
    draft = proposed(KERNEL + LAUNCHER, call=CALL.replace("randn(c))", "randn(c), block=256)"))
    text = draft.kernels["cuda"][1]
    assert text.startswith(KERNEL)
    assert 'extern "C" void solve(float* y, const float* x, const float* b, int n' in text
    assert "add_rows(y, x, b, n, c, block);" in text
    roles = {arg.name: arg.role for arg in draft.args}
    assert (roles["y"], roles["x"], roles["block"]) == (Role.OUTPUT, Role.INPUT, Role.NUMBER)
    assert "add_rows is called by a solve that is added at the end." in draft.assumed


def test_a_kernel_without_a_launcher_takes_a_launch_as_its_entry():
    draft = proposed(KERNEL, entry="add<<<(n * c + 255) / 256, 256>>>")
    assert "add<<<(n * c + 255) / 256, 256>>>(x, b, y, n, c);" in draft.kernels["cuda"][1]


def test_without_a_launch_it_is_said_what_one_looks_like():
    with pytest.raises(DraftError) as refused:
        proposed(KERNEL)
    assert refused.value.field == "entry"
    assert 'a launch of add(x, b, y, n, c), such as "add<<<(n + 255) / 256, 256>>>"' in str(
        refused.value
    )


def test_what_writes_is_asked_where_no_pointer_is_const():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    with pytest.raises(DraftError, match="which of these does a call write"):
        proposed(FIXED, "add.cpp", call)
    draft = proposed(FIXED, "add.cpp", call, outputs=("y",))
    assert [arg.role for arg in draft.args] == [Role.INPUT, Role.INPUT, Role.OUTPUT]


def test_sizes_that_are_built_into_a_kernel_are_not_moved():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    fixed = proposed(FIXED, "add.cpp", call, outputs=("y",))
    assert tomllib.loads(written(fixed)["problem.toml"])["check"] == {"free": []}
    told = proposed(KERNEL, entry="add<<<(n * c + 255) / 256, 256>>>")
    assert "check" not in tomllib.loads(written(told)["problem.toml"])


def test_an_unknown_function_is_answered_with_those_that_there_are():
    with pytest.raises(DraftError, match="defines: add, add_rows, main"):
        proposed(KERNEL + LAUNCHER, entry="other")


def test_unsigned_char_is_uint8():
    kernel = KERNEL.replace("float", "unsigned char")
    call = "add_bias(torch.randint(0, 9, (32, 48)), torch.randint(0, 9, (48,)))"
    named = call.replace("32", "n").replace("48", "c")
    draft = proposed(kernel, call=f"n, c = 32, 48; {named}", entry="add<<<n, 256>>>")
    assert {arg.dtype for arg in draft.args if arg.role is not Role.NUMBER} == {"uint8"}
