// Multi-head attention, the plain way: one thread, one query after the other, all its scores first.
#include <cmath>
#include <vector>

extern "C" void solve(const float* q, const float* k, const float* v, float* o, int B, int H, int S,
                      int D) {
    std::vector<float> scores(S);
    float scale = 1.0f / sqrtf(D);
    for (int head = 0; head < B * H; ++head) {
        const float* keys = k + static_cast<long>(head) * S * D;
        const float* values = v + static_cast<long>(head) * S * D;
        for (int row = 0; row < S; ++row) {
            const float* query = q + (static_cast<long>(head) * S + row) * D;
            float* out = o + (static_cast<long>(head) * S + row) * D;
            float peak = -INFINITY;
            for (int j = 0; j < S; ++j) {
                float sum = 0.0f;
                for (int d = 0; d < D; ++d) {
                    sum += query[d] * keys[static_cast<long>(j) * D + d];
                }
                scores[j] = sum * scale;
                if (scores[j] > peak) peak = scores[j];
            }
            float total = 0.0f;
            for (int j = 0; j < S; ++j) {
                scores[j] = expf(scores[j] - peak);
                total += scores[j];
            }
            for (int d = 0; d < D; ++d) {
                float sum = 0.0f;
                for (int j = 0; j < S; ++j) {
                    sum += scores[j] * values[static_cast<long>(j) * D + d];
                }
                out[d] = sum / total;
            }
        }
    }
}
