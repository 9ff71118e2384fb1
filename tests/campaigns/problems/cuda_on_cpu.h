// What the CUDA sources of tests use, for g++: blocks run one after the other, and the threads of a
// block are fibers that change places where they wait for each other. A block whose number is odd
// wakes its threads in the opposite order, so that a barrier that is missing changes an answer.
#pragma once
#include <math.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// Blocks run one after the other, so that one place serves all of them.
#define __shared__ static

using std::max;
using std::min;

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace on_cpu {
inline dim3 thread, block, threads, blocks;

constexpr int WARP = 32;
constexpr size_t STACK = 128 * 1024;

struct Barrier {
    int members = 0, arrived = 0;
    unsigned turn = 0;

    void open_if_complete() {
        if (arrived == 0 || arrived < members) return;
        arrived = 0;
        ++turn;
    }
};

struct Fiber {
    dim3 index;
    ucontext_t start;
    jmp_buf place;
    bool started = false, ended = false;
    std::unique_ptr<char[]> stack{new char[STACK]};
};

struct Block {
    std::vector<Fiber> fibers;
    std::vector<Barrier> warps;
    std::vector<uint64_t> words;  // what lanes show each other, two places for each lane
    Barrier all;
    jmp_buf outside;
    size_t running = 0;
    bool moved = false;
    std::function<void()> kernel;
};
inline Block now;

inline size_t warp_of_thread() { return now.running / WARP; }

inline void wait_at(Barrier& barrier) {
    unsigned turn = barrier.turn;
    ++barrier.arrived;
    barrier.open_if_complete();
    now.moved = true;
    while (barrier.turn == turn) {
        if (_setjmp(now.fibers[now.running].place) == 0) _longjmp(now.outside, 1);
    }
}

inline void body() {
    now.kernel();
    now.fibers[now.running].ended = now.moved = true;
    for (Barrier* barrier : {&now.warps[warp_of_thread()], &now.all}) {
        --barrier->members;
        barrier->open_if_complete();
    }
    _longjmp(now.outside, 1);
}

inline void resume(size_t number) {
    Fiber& fiber = now.fibers[number];
    if (fiber.ended) return;
    now.running = number;
    thread = fiber.index;
    if (_setjmp(now.outside) != 0) return;
    if (fiber.started) _longjmp(fiber.place, 1);
    fiber.started = true;
    setcontext(&fiber.start);
}

inline void run_block(bool backwards) {
    size_t count = now.fibers.size();
    now.all = Barrier{static_cast<int>(count)};
    now.warps.assign((count + WARP - 1) / WARP, Barrier{});
    for (size_t i = 0; i < count; ++i) {
        Fiber& fiber = now.fibers[i];
        fiber.started = fiber.ended = false;
        getcontext(&fiber.start);
        fiber.start.uc_stack.ss_sp = fiber.stack.get();
        fiber.start.uc_stack.ss_size = STACK;
        makecontext(&fiber.start, body, 0);
        ++now.warps[i / WARP].members;
    }
    while (now.all.members > 0) {
        now.moved = false;
        for (size_t i = 0; i < count; ++i) resume(backwards ? count - 1 - i : i);
        if (!now.moved) {
            std::fputs("the threads of a block wait for each other\n", stderr);
            std::abort();
        }
    }
}

struct Launch {
    Launch(dim3 blocks, dim3 threads, size_t = 0, int = 0) {
        on_cpu::blocks = blocks;
        on_cpu::threads = threads;
    }

    void run(std::function<void()> kernel) {
        now.kernel = std::move(kernel);
        now.fibers = std::vector<Fiber>(threads.x * threads.y * threads.z);
        now.words.assign(2 * (now.fibers.size() + WARP), 0);
        for (unsigned i = 0; i < now.fibers.size(); ++i) {
            now.fibers[i].index = dim3(i % threads.x, i / threads.x % threads.y,
                                       i / threads.x / threads.y);
        }
        for (block.z = 0; block.z < blocks.z; ++block.z) {
            for (block.y = 0; block.y < blocks.y; ++block.y) {
                for (block.x = 0; block.x < blocks.x; ++block.x) run_block(block.x % 2 == 1);
            }
        }
    }
};

// The value that another lane of the warp gives; `other` is computed from the own lane.
template <typename T, typename Other>
T shuffled(T value, Other other) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a register or two");
    Barrier& barrier = now.warps[warp_of_thread()];
    size_t first = warp_of_thread() * WARP, lane = now.running % WARP;
    size_t place = 2 * first + barrier.turn % 2 * WARP;
    std::memcpy(&now.words[place + lane], &value, sizeof(T));
    wait_at(barrier);
    size_t from = other(lane);
    if (from < WARP) std::memcpy(&value, &now.words[place + from], sizeof(T));
    return value;
}

template <typename To, typename From>
To bits_as(From from) {
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}
}  // namespace on_cpu

#define threadIdx (on_cpu::thread)
#define blockIdx (on_cpu::block)
#define blockDim (on_cpu::threads)
#define gridDim (on_cpu::blocks)

inline void __syncthreads() { on_cpu::wait_at(on_cpu::now.all); }
inline void __syncwarp(unsigned = ~0u) {
    on_cpu::wait_at(on_cpu::now.warps[on_cpu::warp_of_thread()]);
}

template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
    return on_cpu::shuffled(value, [=](size_t lane) { return lane ^ mask; });
}
template <typename T>
T __shfl_down_sync(unsigned, T value, int by) {
    return on_cpu::shuffled(value, [=](size_t lane) { return lane + by; });
}
template <typename T>
T __shfl_sync(unsigned, T value, int from) {
    return on_cpu::shuffled(value, [=](size_t) { return from % on_cpu::WARP; });
}
template <typename T, typename V>
T atomicAdd(T* place, V value) {
    T before = *place;
    *place += value;
    return before;
}
template <typename T>
T __ldg(const T* place) {
    return *place;
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __expf(float x) { return expf(x); }
inline float __fdividef(float x, float y) { return x / y; }

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct __nv_bfloat16 {
    uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 value) {
    return on_cpu::bits_as<float>(static_cast<uint32_t>(value.bits) << 16);
}
inline __nv_bfloat16 __float2bfloat16(float value) {
    uint32_t bits = on_cpu::bits_as<uint32_t>(value);
    if (value != value) return {0x7fff};
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

struct __half_raw {
    uint16_t x;
};
struct __half {
    uint16_t bits;
    __half() = default;
    explicit __half(__half_raw raw) : bits(raw.x) {}
};
inline float __half2float(__half value) { return on_cpu::bits_as<_Float16>(value.bits); }
inline __half __float2half(float value) {
    return __half(__half_raw{on_cpu::bits_as<uint16_t>(static_cast<_Float16>(value))});
}

// Of the two formats of float8 the one with four bits for the exponent.
enum __nv_fp8_interpretation_t { __NV_E4M3 };
enum __nv_saturation_t { __NV_SATFINITE };
using __nv_fp8_storage_t = uint8_t;

inline __half_raw __nv_cvt_fp8_to_halfraw(uint8_t bits, __nv_fp8_interpretation_t) {
    int exponent = bits >> 3 & 15, digits = bits & 7;
    float value = exponent ? ldexpf(8 + digits, exponent - 10) : ldexpf(digits, -9);
    if ((bits & 127) == 127) value = NAN;
    return {__float2half(bits & 128 ? -value : value).bits};
}
inline uint8_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t, __nv_fp8_interpretation_t) {
    uint8_t sign = signbit(value) ? 128 : 0;
    if (value != value) return sign | 127;
    value = min(fabsf(value), 448.0f);
    int exponent = value == 0.0f ? -6 : max(ilogbf(value), -6);
    // In units of the last digit; eight of them are the least number that is not subnormal.
    int units = static_cast<int>(nearbyintf(ldexpf(value, 3 - exponent)));
    return sign | (units < 8 ? units : (exponent + 6) * 8 + units);
}

// Every lane holds the whole tile of a fragment, and computes all of it.
namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K, typename T, typename Layout = row_major>
struct fragment {
    static constexpr int ROWS = std::is_same_v<Use, matrix_b> ? K : M;
    static constexpr int COLUMNS = std::is_same_v<Use, matrix_a> ? K : N;
    float at[ROWS][COLUMNS];
};

template <typename F>
void fill_fragment(F& tile, float value) {
    for (auto& row : tile.at) std::fill(std::begin(row), std::end(row), value);
}
template <typename Use, int M, int N, int K, typename Layout>
void load_matrix_sync(fragment<Use, M, N, K, __nv_bfloat16, Layout>& tile,
                      const __nv_bfloat16* from, unsigned stride) {
    constexpr bool rows = std::is_same_v<Layout, row_major>;
    for (int i = 0; i < tile.ROWS; ++i) {
        for (int j = 0; j < tile.COLUMNS; ++j) {
            tile.at[i][j] = __bfloat162float(from[rows ? i * stride + j : j * stride + i]);
        }
    }
}
template <typename Sum, typename A, typename B>
void mma_sync(Sum& to, const A& a, const B& b, const Sum& sum) {
    to = sum;
    for (int i = 0; i < a.ROWS; ++i) {
        for (int k = 0; k < a.COLUMNS; ++k) {
            for (int j = 0; j < b.COLUMNS; ++j) to.at[i][j] += a.at[i][k] * b.at[k][j];
        }
    }
}
template <typename Sum>
void store_matrix_sync(float* to, const Sum& sum, unsigned stride, layout_t layout) {
    for (int i = 0; i < sum.ROWS; ++i) {
        for (int j = 0; j < sum.COLUMNS; ++j) {
            to[layout == mem_row_major ? i * stride + j : j * stride + i] = sum.at[i][j];
        }
    }
}
}  // namespace nvcuda::wmma
