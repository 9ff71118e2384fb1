// trick: a coroutine hands out the rows, std::variant and std::function the work
// problem: colmax N=50 D=60
// outcome: passed
// flags: -std=c++20 -fcoroutines
#include <coroutine>
#include <functional>
#include <variant>
struct Rows {
  struct promise_type {
    const float* now = nullptr;
    Rows get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const float* p) noexcept { now = p; return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> h;
  ~Rows() { h.destroy(); }
};
static Rows each(const float* x, int N, int D) { for (int n = 0; n < N; ++n) co_yield x + n * D; }
extern "C" void solve(const float* x, float* y, int N, int D) {
  std::variant<int, float> start = x[0];
  std::function<void(const float*)> take = [&](const float* r) {
    for (int d = 0; d < D; ++d) if (r == x || r[d] > y[d]) y[d] = r[d];
  };
  if (!std::holds_alternative<float>(start)) return;
  Rows rows = each(x, N, D);
  for (rows.h.resume(); !rows.h.done(); rows.h.resume()) take(rows.h.promise().now);
}
