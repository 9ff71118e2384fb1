// Each thread takes so many neighbouring values, and moves up to 16 bytes at once.
constexpr int VALUES = $values;

template <typename T>
struct alignas(sizeof(T) * VALUES < 16 ? sizeof(T) * VALUES : 16) Vector {
    T held[VALUES];
};

template <typename T>
__device__ bool is_aligned(const T* address) {
    return reinterpret_cast<size_t>(address) % alignof(Vector<T>) == 0;
}

$head{
    const $kind begin = (static_cast<$kind>(blockIdx.x) * blockDim.x + threadIdx.x) * VALUES;
    if (begin >= $limit) return;
    $kind $index = begin;
    ${needs}if (begin + VALUES <= $limit && $checks) {
        $loads
#pragma unroll
        for (int nth = 0; nth < VALUES; ++nth) {
            const $kind $index = begin + nth;
            $inner
        }
        $stores
        return;
    }
    for (; $index < $limit && $index < begin + VALUES; ++$index) {
        $body
    }
}
