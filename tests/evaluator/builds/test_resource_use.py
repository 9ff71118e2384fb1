from campaigns.evaluator.builds.compile import facts_from_listing, facts_from_ptxas
from campaigns.evaluator.contract.stream import BuildFacts

# As nvcc 13 with -Xptxas=-v prints it.
PTXAS = """ptxas info    : Compiling entry function '_Z6kernelPf' for 'sm_90a'
ptxas info    : Function properties for _Z6kernelPf
    16 bytes stack frame, 24 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 8192 bytes smem
ptxas info    : Compiling entry function '_Z5otherPf' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
"""
LISTING = """Resource usage:
 Common:
  GLOBAL:0
 Function matmul_tiles:
  REG:96 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:580 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def test_it_takes_the_most_of_several_kernels():
    assert facts_from_ptxas(PTXAS) == BuildFacts(40, 24, 16, 8192)


def test_it_adds_the_shared_memory_of_the_launch():
    assert facts_from_listing(LISTING, [32768, 0]) == BuildFacts(96, 0, 8, 32768)


def test_what_is_not_said_is_not_known():
    assert facts_from_ptxas("") == BuildFacts()
    assert facts_from_listing("", [512]) == BuildFacts(shared_bytes=512)
