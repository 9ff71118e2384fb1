"""The names that make a finding, by language. A name here is a reason to review, not to refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from campaigns.rules.verdict.finding_kinds import FindingKind


def _all(kind: FindingKind, names: Iterable[str]) -> dict[str, FindingKind]:
    return dict.fromkeys(names, kind)


# Modules of which any use counts.
PYTHON_PREFIXES: Mapping[str, FindingKind] = {
    **_all(FindingKind.NATIVE_ACCESS, ("ctypes", "cffi", "mmap", "cupy", "numba")),
    **_all(FindingKind.PROCESS, ("subprocess", "multiprocessing", "pty", "socket", "signal")),
    **_all(FindingKind.THREAD, ("threading", "concurrent.futures", "asyncio", "_thread", "queue")),
    **_all(
        FindingKind.DETECTION,
        ("inspect", "gc", "traceback", "time", "timeit", "platform", "psutil"),
    ),
    **_all(
        FindingKind.HIDDEN_CODE,
        ("pickle", "marshal", "base64", "zlib", "importlib", "runpy", "code"),
    ),
    **_all(FindingKind.HIDDEN_CODE, ("torch.utils.cpp_extension", "torch.hub", "codecs")),
    **_all(
        FindingKind.LIBRARY,
        ("torch.nn", "torch.ops", "torch.linalg", "torch.fft", "torch._C", "torch.compile"),
    ),
    **_all(
        FindingKind.STREAM, ("torch.cuda.Stream", "torch.cuda.stream", "torch.cuda.ExternalStream")
    ),
    **_all(FindingKind.LAZY_OUTPUT, ("torch.overrides", "torch.utils._python_dispatch")),
    **_all(FindingKind.CACHE, ("weakref",)),
}

PYTHON: Mapping[str, FindingKind] = {
    **_all(FindingKind.IDENTITY_KEY, ("id", "hash", "builtins.id", "builtins.hash")),
    **_all(
        FindingKind.HIDDEN_CODE, ("exec", "eval", "compile", "__import__", "open", "builtins.exec")
    ),
    **_all(FindingKind.PROCESS, ("os.system", "os.fork", "os.popen", "os.execv", "os.kill")),
    **_all(
        FindingKind.PROCESS, ("os.posix_spawn", "os.forkpty", "os.spawnv", "os.execve", "os.killpg")
    ),
    **_all(FindingKind.EXIT, ("sys.exit", "exit", "quit", "os.abort", "os._exit")),
    **_all(
        FindingKind.DETECTION,
        ("sys._getframe", "sys.settrace", "sys.setprofile", "globals", "vars"),
    ),
    **_all(FindingKind.DETECTION, ("os.environ.get", "os.getenv", "os.getpid", "torch.cuda.Event")),
    **_all(
        FindingKind.GLOBAL_STATE,
        (
            *("torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"),
            *("torch.set_default_dtype", "torch.set_default_device", "torch.set_num_threads"),
            *("torch.set_float32_matmul_precision", "torch.use_deterministic_algorithms"),
            *("torch.cuda.set_device", "torch.cuda.set_per_process_memory_fraction"),
            *("torch.cuda.memory.change_current_allocator", "os.sched_setaffinity", "os.nice"),
            *("os.environ.update", "os.environ.setdefault", "os.putenv"),
        ),
    ),
    **_all(
        FindingKind.LIBRARY,
        (
            *(f"torch.{op}" for op in ("matmul", "mm", "bmm", "addmm", "einsum", "baddbmm")),
            *(f"torch.{op}" for op in ("softmax", "log_softmax", "layer_norm", "batch_norm")),
            *(f"torch.{op}" for op in ("sum", "mean", "var", "max", "amax", "cumsum", "sort")),
            *(f"torch.{op}" for op in ("add", "mul", "sub", "div", "exp", "relu", "sigmoid")),
            *(f"numpy.{op}" for op in ("add", "multiply", "subtract", "divide", "matmul", "dot")),
            *(f"numpy.{op}" for op in ("einsum", "exp", "tanh", "sum", "max", "cumsum", "copyto")),
            *(f"torch.{op}" for op in ("conv1d", "conv2d", "conv3d", "tanh", "where", "rsqrt")),
        ),
    ),
}

# Methods of a tensor, whatever it is called.
PYTHON_METHODS: Mapping[str, FindingKind] = {
    **_all(FindingKind.IDENTITY_KEY, ("data_ptr", "untyped_storage", "storage")),
    **_all(
        FindingKind.LAZY_OUTPUT, ("set_", "as_subclass", "_make_subclass", "_make_wrapper_subclass")
    ),
    **_all(FindingKind.LIBRARY, ("matmul", "mm", "bmm", "addmm", "addmm_", "softmax", "baddbmm")),
    **_all(
        FindingKind.LIBRARY, ("sum", "mean", "var", "amax", "cumsum", "exp", "exp_", "mul_", "add_")
    ),
    **_all(FindingKind.LIBRARY, ("numpy", "__array__")),
    **_all(FindingKind.STREAM, ("wait_stream", "wait_event", "record_stream")),
}

# Identifiers of C++, CUDA and HIP sources.
C_NAMES: Mapping[str, FindingKind] = {
    **_all(FindingKind.THREAD, ("thread", "jthread", "async", "pthread_create", "thrd_create")),
    **_all(
        FindingKind.THREAD, ("cudaLaunchHostFunc", "cudaStreamAddCallback", "hipLaunchHostFunc")
    ),
    **_all(
        FindingKind.STREAM,
        ("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamNonBlocking"),
    ),
    **_all(
        FindingKind.STREAM, ("cudaStreamCreateWithPriority", "cuStreamCreate", "hipStreamCreate")
    ),
    **_all(
        FindingKind.STREAM, ("cudaStreamPerThread", "cudaStreamBeginCapture", "cudaGraphLaunch")
    ),
    **_all(FindingKind.PROCESS, ("fork", "vfork", "clone", "execv", "execve", "system", "popen")),
    **_all(FindingKind.EXIT, ("exit", "_exit", "_Exit", "quick_exit", "abort")),
    **_all(FindingKind.PROCESS, ("kill", "raise", "ptrace", "posix_spawn")),
    **_all(FindingKind.PROCESS, ("socket", "connect")),
    **_all(
        FindingKind.FALLBACK,
        ("sigaction", "signal", "setjmp", "sigsetjmp", "longjmp", "siglongjmp"),
    ),
    **_all(FindingKind.HIDDEN_CODE, ("dlopen", "dlsym", "dlmopen", "mprotect", "cuModuleLoadData")),
    **_all(FindingKind.HIDDEN_CODE, ("nvrtcCompileProgram", "cuModuleLoad", "cuLibraryLoadData")),
    **_all(
        FindingKind.NATIVE_ACCESS, ("mmap", "process_vm_writev", "process_vm_readv", "shm_open")
    ),
    # A pool of threads sleeps on a futex, for which libc has no name.
    **_all(FindingKind.NATIVE_ACCESS, ("syscall", "prctl")),
    **_all(
        FindingKind.NATIVE_ACCESS, ("cuMemGetAddressRange", "cuPointerGetAttribute", "ifstream")
    ),
    **_all(
        FindingKind.NATIVE_ACCESS, ("cudaIpcOpenMemHandle", "cudaPointerGetAttributes", "fopen")
    ),
    **_all(FindingKind.NATIVE_ACCESS, ("ofstream", "open", "openat", "fstream", "shmat")),
    **_all(FindingKind.DETECTION, ("clock_gettime", "gettimeofday", "rdtsc", "__rdtsc", "clock64")),
    **_all(
        FindingKind.DETECTION, ("steady_clock", "high_resolution_clock", "system_clock", "getenv")
    ),
    **_all(
        FindingKind.DETECTION, ("globaltimer", "__globaltimer", "cudaEventElapsedTime", "getpid")
    ),
    **_all(FindingKind.GLOBAL_STATE, ("cudaDeviceSetLimit", "cudaCtxResetPersistingL2Cache")),
    **_all(
        FindingKind.GLOBAL_STATE, ("cudaLimitPersistingL2CacheSize", "cudaDeviceReset", "setenv")
    ),
    **_all(
        FindingKind.GLOBAL_STATE, ("cudaAccessPropertyPersisting", "cudaSetDevice", "setpriority")
    ),
    **_all(
        FindingKind.GLOBAL_STATE,
        ("fesetround", "_mm_setcsr", "_MM_SET_FLUSH_ZERO_MODE", "sched_setaffinity"),
    ),
    **_all(FindingKind.LIBRARY, ("cublasCreate", "cublasSgemm", "cublasGemmEx", "cublasLtMatmul")),
    **_all(
        FindingKind.LIBRARY,
        ("cblas_sgemm", "cblas_dgemm", "cudnnCreate", "dnnl", "Eigen", "thrust"),
    ),
    **_all(FindingKind.IDENTITY_KEY, ("uintptr_t", "intptr_t")),
}

# Containers that map one thing to another; with a pointer as the key they find earlier answers.
C_CONTAINERS = ("map", "unordered_map", "set", "unordered_set", "flat_map", "vector", "deque")
