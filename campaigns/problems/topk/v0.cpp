// The largest values of a row, the plain way: one thread finds one after the other.

// Whether the score at `a` comes before that at `b`: it is larger, or as large and further left.
static bool comes_before(const float* row, int a, int b) {
    return row[a] > row[b] || (row[a] == row[b] && a < b);
}

extern "C" void solve(const float* scores, float* values, int* indices, int N, int E, int K) {
    for (int i = 0; i < N; ++i) {
        const float* row = scores + static_cast<long>(i) * E;
        int last = -1;
        for (int k = 0; k < K; ++k) {
            int best = -1;
            for (int j = 0; j < E; ++j) {
                if (last >= 0 && !comes_before(row, last, j)) continue;
                if (best < 0 || comes_before(row, j, best)) best = j;
            }
            values[static_cast<long>(i) * K + k] = row[best];
            indices[static_cast<long>(i) * K + k] = best;
            last = best;
        }
    }
}
