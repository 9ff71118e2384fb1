// Measures what this CPU can do at best, for the ceilings that targets and rooflines rest on.
// Prints one line per measurement: metric dtype method threads bytes rate rate rate …
// Rates are per second: bytes read plus bytes written for copies, bytes read or bytes written for
// the others, two operations per multiply-add.
//
// Every rate is work done within a fixed window. Threads look at the clock by themselves instead of
// meeting at a barrier, so a neighbour on the machine costs its share and no more.
//
// Usage: probe <MiB of all arrays> <rounds> <repeats in a round> [<bytes of one array>]
// With the bytes of one array, a whole number of chunks, only copies of such arrays are measured.
// The whole sweep is done once a round, so that a busy moment spoils one round and not one value.
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#define HAS_STREAMING_STORES 1
#else
#define HAS_STREAMING_STORES 0
#endif

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSmallestMiB = 1;
constexpr std::size_t kHugePage = 2 * kMiB;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kChunk = 64 * 1024;
// Two pipelines of four cycles need eight independent chains; twelve and their constants still fit
// into the sixteen registers of AVX2.
constexpr int kChains = 12;
constexpr int kFmaLoops = 4096;
constexpr double kWindowSeconds = 0.010;
// Before each measurement, for caches and branch predictors; not counted.
constexpr double kWarmUpSeconds = 0.003;

double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

enum class Method { kCopyPlain, kCopyStreaming, kRead, kWritePlain, kWriteStreaming };

struct Kind {
  Method method;
  const char* metric;
  const char* name;
  int arrays;  // that each byte of the size is moved in
  bool streams;
};

constexpr Kind kKinds[] = {
    {Method::kCopyPlain, "copy_bandwidth", "plain", 2, false},
    {Method::kCopyStreaming, "copy_bandwidth", "streaming", 2, true},
    {Method::kRead, "read_bandwidth", "read", 1, false},
    {Method::kWritePlain, "write_bandwidth", "plain", 1, false},
    {Method::kWriteStreaming, "write_bandwidth", "streaming", 1, true},
};

volatile std::uint64_t keep;

// Goes past the caches: the lines to be written are not read first.
void copy_streaming(char* to, const char* from, std::size_t bytes) {
#if HAS_STREAMING_STORES
  for (std::size_t i = 0; i < bytes; i += 16) {
    const __m128i v = _mm_load_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), v);
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

// A loop of our own: memcpy switches to streaming stores by itself above some size.
void copy_plain(char* __restrict to, const char* __restrict from, std::size_t bytes) {
  typedef std::uint64_t V __attribute__((vector_size(kVectorBytes)));
  for (std::size_t i = 0; i < bytes; i += 2 * kVectorBytes) {
    const V a = *reinterpret_cast<const V*>(from + i);
    const V b = *reinterpret_cast<const V*>(from + i + kVectorBytes);
    *reinterpret_cast<V*>(to + i) = a;
    *reinterpret_cast<V*>(to + i + kVectorBytes) = b;
  }
  asm volatile("" ::: "memory");
}

void write_streaming(char* to, std::size_t bytes) {
#if HAS_STREAMING_STORES
  const __m128i v = _mm_set1_epi8(1);
  for (std::size_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), v);
  }
#else
  std::memset(to, 1, bytes);
#endif
}

void write_plain(char* to, std::size_t bytes) {
  typedef std::uint64_t V __attribute__((vector_size(kVectorBytes)));
  const V v = V{} + 1;
  for (std::size_t i = 0; i < bytes; i += 2 * kVectorBytes) {
    *reinterpret_cast<V*>(to + i) = v;
    *reinterpret_cast<V*>(to + i + kVectorBytes) = v;
  }
  asm volatile("" ::: "memory");
}

void read_only(const char* from, std::size_t bytes) {
  typedef std::uint64_t V __attribute__((vector_size(kVectorBytes)));
  V a = {}, b = {}, c = {}, d = {};
  for (std::size_t i = 0; i < bytes; i += 4 * kVectorBytes) {
    a ^= *reinterpret_cast<const V*>(from + i);
    b ^= *reinterpret_cast<const V*>(from + i + kVectorBytes);
    c ^= *reinterpret_cast<const V*>(from + i + 2 * kVectorBytes);
    d ^= *reinterpret_cast<const V*>(from + i + 3 * kVectorBytes);
  }
  a ^= b ^ c ^ d;
  keep = a[0];
}

// One window: each thread goes round its own part of the arrays, from where it stopped last time.
struct Traffic {
  char* to;
  char* from;
  std::size_t bytes;
  Kind kind;
  std::vector<std::size_t> cursors;

  void chunk(std::size_t at) {
    switch (kind.method) {
      case Method::kCopyPlain: return copy_plain(to + at, from + at, kChunk);
      case Method::kCopyStreaming: return copy_streaming(to + at, from + at, kChunk);
      case Method::kRead: return read_only(from + at, kChunk);
      case Method::kWritePlain: return write_plain(to + at, kChunk);
      case Method::kWriteStreaming: return write_streaming(to + at, kChunk);
    }
  }

  double operator()(double deadline) {
    const std::size_t id = omp_get_thread_num(), all = omp_get_num_threads();
    const std::size_t chunks = bytes / kChunk;
    const std::size_t first = chunks * id / all * kChunk, last = chunks * (id + 1) / all * kChunk;
    std::size_t at = std::max(first, cursors[id]);
    double moved = 0;
    while (last > first && now() < deadline) {
      if (at >= last) at = first;
      chunk(at);
      at += kChunk;
      moved += kind.arrays * kChunk;
    }
#if HAS_STREAMING_STORES
    _mm_sfence();
#endif
    cursors[id] = at;
    return moved;
  }
};

template <typename T>
struct MultiplyAdd {
  double operator()(double deadline) {
    typedef T V __attribute__((vector_size(kVectorBytes)));
    V x[kChains];
    for (int c = 0; c < kChains; ++c) x[c] = V{} + T(c);
    const V scale = V{} + T(0.999), shift = V{} + T(0.001);
    double operations = 0;
    while (now() < deadline) {
      for (int loop = 0; loop < kFmaLoops; ++loop) {
#pragma GCC unroll 16
        for (int c = 0; c < kChains; ++c) x[c] = x[c] * scale + shift;
      }
      operations += 2.0 * kChains * kFmaLoops * (kVectorBytes / sizeof(T));
    }
    for (int c = 1; c < kChains; ++c) x[0] += x[c];
    keep = static_cast<std::uint64_t>(x[0][0]);
    return operations;
  }
};

// The clock runs from the first thread's start to the last one's end.
template <typename Work>
double rate(Work& work, int threads, double window_seconds) {
  double done = 0, first = 1e300, last = 0;
#pragma omp parallel num_threads(threads) reduction(+ : done) reduction(min : first) \
    reduction(max : last)
  {
#pragma omp barrier
    first = now();
    done = work(first + window_seconds);
    last = now();
  }
  return done / (last - first);
}

template <typename Work>
void print_rates(Work& work, int threads, int repeats) {
  rate(work, threads, kWarmUpSeconds);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::printf(" %.5e", rate(work, threads, kWindowSeconds));
  }
  std::printf("\n");
}

// A copy goes from the first half of the memory to the second; the others may use all of it.
void measure_traffic(char* memory, std::size_t largest, std::size_t bytes, int threads,
                     int repeats, int least_arrays = 1) {
  for (const Kind& kind : kKinds) {
    if (kind.arrays < least_arrays) continue;
    if (kind.streams && !HAS_STREAMING_STORES) continue;
    if (kind.arrays * bytes > largest) continue;
    char* to = kind.arrays > 1 ? memory + largest / 2 : memory;
    std::printf("%s - %s %d %zu", kind.metric, kind.name, threads, bytes);
    Traffic traffic{to, memory, bytes, kind, std::vector<std::size_t>(threads)};
    print_rates(traffic, threads, repeats);
  }
}

void measure_operations(int threads, int repeats) {
  MultiplyAdd<float> single;
  std::printf("fma_throughput float32 chains %d 0", threads);
  print_rates(single, threads, repeats);
  MultiplyAdd<double> twice;
  std::printf("fma_throughput float64 chains %d 0", threads);
  print_rates(twice, threads, repeats);
}

// Large pages, and each touched first by the thread that will use it.
char* allocate(std::size_t bytes) {
  char* memory = static_cast<char*>(std::aligned_alloc(kHugePage, bytes));
  if (memory == nullptr) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < bytes; i += kPage) std::memset(memory + i, 1, kPage);
  return memory;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4 && count != 5) return 2;
  const std::size_t only = count == 5 ? std::strtoull(words[4], nullptr, 10) : 0;
  const std::size_t largest = std::strtoull(words[1], nullptr, 10) * kMiB;
  const int rounds = std::atoi(words[2]), repeats = std::atoi(words[3]);
  const int every = omp_get_max_threads();
  char* memory = allocate(largest);
  if (memory == nullptr) return 3;
  // One thread alone is seldom the fastest and is tried in the first round only.
  for (int round = 0; round < rounds; ++round) {
    for (const int threads : {every, 1}) {
      if (threads < every && round > 0) continue;
      if (only > 0) {
        measure_traffic(memory, largest, only, threads, repeats, 2);
        if (every == 1) break;
        continue;
      }
      for (std::size_t bytes = kSmallestMiB * kMiB; bytes <= largest; bytes *= 2) {
        measure_traffic(memory, largest, bytes, threads, repeats);
      }
      measure_operations(threads, 2 * repeats);
      if (every == 1) break;
    }
  }
  std::free(memory);
  return 0;
}
