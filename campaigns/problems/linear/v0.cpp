// A linear layer and its gradients, the plain way: one thread, one dot product per value.

static float dot(const float* a, int a_step, const float* b, int b_step, int count) {
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        sum += a[i * a_step] * b[i * b_step];
    }
    return sum;
}

extern "C" void solve(float* x, float* w, float* dy, float* y, float* dx, float* dw, int M, int K,
                      int N, int BACKWARD) {
    if (!BACKWARD) {
        for (int m = 0; m < M; ++m) {
            for (int n = 0; n < N; ++n) {
                y[m * N + n] = dot(x + m * K, 1, w + n, N, K);
            }
        }
        return;
    }
    for (int m = 0; m < M; ++m) {
        for (int k = 0; k < K; ++k) {
            dx[m * K + k] = dot(dy + m * N, 1, w + k * N, 1, N);
        }
    }
    for (int k = 0; k < K; ++k) {
        for (int n = 0; n < N; ++n) {
            dw[k * N + n] = dot(x + k, K, dy + n, N, M);
        }
    }
}
