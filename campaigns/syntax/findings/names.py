"""The names that make a finding, by language. A name here is a reason to review, not to refuse."""

from __future__ import annotations

from collections.abc import Mapping

from campaigns.rules.verdict.finding_kinds import FindingKind


def _by_name(names: Mapping[FindingKind, str]) -> dict[str, FindingKind]:
    return {name: kind for kind, listed in names.items() for name in listed.split()}


# Modules of which any use counts.
PYTHON_PREFIXES: Mapping[str, FindingKind] = _by_name(
    {
        FindingKind.NATIVE_ACCESS: "ctypes cffi mmap cupy numba",
        FindingKind.PROCESS: "subprocess multiprocessing pty socket signal",
        FindingKind.THREAD: "threading concurrent.futures asyncio _thread queue",
        FindingKind.DETECTION: "inspect gc traceback time timeit platform psutil",
        FindingKind.HIDDEN_CODE: (
            "pickle marshal base64 zlib importlib runpy code torch.utils.cpp_extension torch.hub "
            "codecs"
        ),
        FindingKind.LIBRARY: "torch.nn torch.ops torch.linalg torch.fft torch._C torch.compile",
        FindingKind.STREAM: (
            "torch.cuda.Stream torch.cuda.stream torch.cuda.ExternalStream torch.cuda.graph "
            "torch.cuda.graphs torch.cuda.CUDAGraph torch.cuda.make_graphed_callables"
        ),
        FindingKind.LAZY_OUTPUT: "torch.overrides torch.utils._python_dispatch",
        FindingKind.CACHE: "weakref",
    }
)

# Functions.
PYTHON: Mapping[str, FindingKind] = _by_name(
    {
        FindingKind.IDENTITY_KEY: "id hash builtins.id builtins.hash",
        FindingKind.CACHE: "functools.lru_cache functools.cache",
        FindingKind.HIDDEN_CODE: "exec eval compile __import__ open builtins.exec",
        FindingKind.PROCESS: (
            "os.system os.fork os.popen os.execv os.kill os.posix_spawn os.forkpty os.spawnv "
            "os.execve os.killpg"
        ),
        FindingKind.EXIT: "sys.exit exit quit os.abort os._exit",
        FindingKind.DETECTION: (
            "sys._getframe sys.settrace sys.setprofile globals vars os.environ.get os.getenv "
            "os.getpid torch.cuda.Event"
        ),
        FindingKind.GLOBAL_STATE: (
            "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all "
            "torch.set_default_dtype torch.set_default_device torch.set_num_threads "
            "torch.set_float32_matmul_precision torch.use_deterministic_algorithms "
            "torch.cuda.set_device torch.cuda.set_per_process_memory_fraction "
            "torch.cuda.memory.change_current_allocator os.sched_setaffinity os.nice "
            "os.environ.update os.environ.setdefault os.putenv"
        ),
        FindingKind.LIBRARY: (
            "torch.matmul torch.mm torch.bmm torch.addmm torch.einsum torch.baddbmm torch.softmax "
            "torch.log_softmax torch.layer_norm torch.batch_norm torch.sum torch.mean torch.var "
            "torch.max torch.amax torch.cumsum torch.sort torch.add torch.mul torch.sub torch.div "
            "torch.exp torch.relu torch.sigmoid numpy.add numpy.multiply numpy.subtract "
            "numpy.divide numpy.matmul numpy.dot numpy.einsum numpy.exp numpy.tanh numpy.sum "
            "numpy.max numpy.cumsum numpy.copyto torch.conv1d torch.conv2d torch.conv3d "
            "torch.tanh torch.where torch.rsqrt"
        ),
    }
)

# Methods of a tensor, whatever it is called.
PYTHON_METHODS: Mapping[str, FindingKind] = _by_name(
    {
        FindingKind.IDENTITY_KEY: "data_ptr untyped_storage storage",
        FindingKind.LAZY_OUTPUT: "set_ as_subclass _make_subclass _make_wrapper_subclass",
        FindingKind.LIBRARY: (
            "matmul mm bmm addmm addmm_ softmax baddbmm sum mean var amax cumsum exp exp_ mul_ "
            "add_ numpy __array__"
        ),
        FindingKind.STREAM: "wait_stream wait_event record_stream",
    }
)

# Identifiers of C++, CUDA and HIP sources. `syscall`: libc has no name for the futex on which a
# pool of threads sleeps.
C_NAMES: Mapping[str, FindingKind] = _by_name(
    {
        FindingKind.THREAD: (
            "thread jthread async pthread_create thrd_create cudaLaunchHostFunc "
            "cudaStreamAddCallback hipLaunchHostFunc"
        ),
        FindingKind.STREAM: (
            "cudaStreamCreate cudaStreamCreateWithFlags cudaStreamNonBlocking "
            "cudaStreamCreateWithPriority cuStreamCreate hipStreamCreate cudaStreamPerThread "
            "cudaStreamBeginCapture cudaGraphLaunch"
        ),
        FindingKind.PROCESS: (
            "fork vfork clone execv execve system popen kill raise ptrace posix_spawn socket "
            "connect"
        ),
        FindingKind.EXIT: "exit _exit _Exit quick_exit abort",
        FindingKind.FALLBACK: "sigaction signal setjmp sigsetjmp longjmp siglongjmp",
        FindingKind.HIDDEN_CODE: (
            "dlopen dlsym dlmopen mprotect cuModuleLoadData nvrtcCompileProgram cuModuleLoad "
            "cuLibraryLoadData"
        ),
        FindingKind.NATIVE_ACCESS: (
            "mmap process_vm_writev process_vm_readv shm_open syscall prctl cuMemGetAddressRange "
            "cuPointerGetAttribute ifstream cudaIpcOpenMemHandle cudaPointerGetAttributes fopen "
            "ofstream open openat fstream shmat"
        ),
        FindingKind.DETECTION: (
            "clock_gettime gettimeofday rdtsc __rdtsc clock64 steady_clock high_resolution_clock "
            "system_clock getenv globaltimer __globaltimer cudaEventElapsedTime getpid"
        ),
        FindingKind.GLOBAL_STATE: (
            "cudaDeviceSetLimit cudaCtxResetPersistingL2Cache cudaLimitPersistingL2CacheSize "
            "cudaDeviceReset setenv cudaAccessPropertyPersisting cudaSetDevice setpriority "
            "fesetround _mm_setcsr _MM_SET_FLUSH_ZERO_MODE sched_setaffinity"
        ),
        FindingKind.LIBRARY: (
            "cublasCreate cublasSgemm cublasGemmEx cublasLtMatmul cblas_sgemm cblas_dgemm "
            "cudnnCreate dnnl Eigen thrust"
        ),
        FindingKind.IDENTITY_KEY: "uintptr_t intptr_t",
    }
)

# Containers that map one thing to another; with a pointer as the key they find earlier answers.
C_CONTAINERS = ("map", "unordered_map", "set", "unordered_set", "flat_map", "vector", "deque")
