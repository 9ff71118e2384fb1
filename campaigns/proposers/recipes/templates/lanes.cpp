// glibc computes these for several values at once, too; of itself it says so under -ffast-math
// alone. Loops with `omp simd` then stay in vector lanes.
#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float logf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float tanhf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float erff(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float sinf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float cosf(float) noexcept;
#endif
