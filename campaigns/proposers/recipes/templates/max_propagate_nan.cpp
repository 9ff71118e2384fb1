// The larger of two, or NaN where one of them is.
template <typename T>
inline T max_propagate_nan(T one, T other) {
    return one != one ? one : (other != other || other > one ? other : one);
}

#pragma omp declare reduction(max_nan : float : omp_out = max_propagate_nan(omp_out, omp_in)) \
    initializer(omp_priv = -std::numeric_limits<float>::infinity())
