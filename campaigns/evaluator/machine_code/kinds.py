"""What an instruction does, in words that CPUs and GPUs share."""

from __future__ import annotations

from enum import StrEnum


class OpKind(StrEnum):
    """One per instruction, by its work: what adds a value from memory is arithmetic."""

    # Products of small matrices: tensor cores, AMX, SME.
    MATRIX = "matrix"
    # Packed floating-point arithmetic of a CPU, and packed products that quantised kernels are
    # made of, by the width of the register in bits; of SVE, whose width the code does not say.
    VECTOR_512 = "vector_512"
    VECTOR_256 = "vector_256"
    VECTOR_128 = "vector_128"
    VECTOR_SCALABLE = "vector_scalable"
    # One floating-point value at a time, on a CPU.
    SCALAR_FLOAT = "scalar_float"
    # Floating-point arithmetic of a GPU's thread, by the width of its values in bits.
    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    # Reciprocals, roots, powers and sines of a GPU's special function unit.
    SPECIAL = "special"
    # From one format of numbers to another.
    CONVERT = "convert"
    # Integers, addresses, comparisons of them, and logic on bits.
    INTEGER = "integer"
    # Values that change lanes, of a vector or of a warp.
    SHUFFLE = "shuffle"
    # A GPU's memory, as a thread loads and stores it. LOCAL is what did not fit into registers.
    GLOBAL_LOAD = "global_load"
    GLOBAL_STORE = "global_store"
    SHARED_LOAD = "shared_load"
    SHARED_STORE = "shared_store"
    LOCAL = "local"
    # Copies that a GPU's thread starts and does not carry through its registers.
    ASYNC_COPY = "async_copy"
    # Loads and stores of a CPU.
    MEMORY = "memory"
    ATOMIC = "atomic"
    # Waits for others, and fences of memory.
    BARRIER = "barrier"
    BRANCH = "branch"
    CALL = "call"
    OTHER = "other"
