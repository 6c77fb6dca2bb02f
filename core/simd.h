// Numbers in vectors of the machine's width, through the compiler's vector types: the same source for
// AVX-512, AVX, SSE, WebAssembly and, with HEADSCOPE_SCALAR, one number at a time. What a lane holds depends
// on that lane's input alone, so a number's bits do not depend on where in a row it stands.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
#include <immintrin.h>
#endif

namespace headscope::core {

#if defined(HEADSCOPE_SCALAR)
inline constexpr int kVectorBytes = 0;  // one number
inline constexpr int kVectorRegisters = 16;
#elif defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kVectorRegisters = 16;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorRegisters = 16;
#endif

/// How many numbers a vector holds.
template <class T>
inline constexpr int kLanes = kVectorBytes == 0 ? 1 : kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
struct VectorTypes;
template <>
struct VectorTypes<float> {
  typedef float Reals __attribute__((vector_size(kVectorBytes == 0 ? 4 : kVectorBytes)));
  typedef std::int32_t Integers __attribute__((vector_size(kVectorBytes == 0 ? 4 : kVectorBytes)));
  typedef std::uint32_t Bits __attribute__((vector_size(kVectorBytes == 0 ? 4 : kVectorBytes)));
};
template <>
struct VectorTypes<double> {
  typedef double Reals __attribute__((vector_size(kVectorBytes == 0 ? 8 : kVectorBytes)));
  typedef std::int64_t Integers __attribute__((vector_size(kVectorBytes == 0 ? 8 : kVectorBytes)));
};
template <class T>
using Vector = typename VectorTypes<T>::Reals;
/// What a comparison of vectors gives: -1 or 0 in each lane.
template <class T>
using VectorMask = typename VectorTypes<T>::Integers;

template <class T>
inline Vector<T> broadcast(T number) {
  return number - Vector<T>{};  // exact, also for -0, so that nothing is computed
}
template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}
template <class T>
inline void store(T* to, const Vector<T>& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

/// The first `count` lanes from memory, `fill` in the others. Reads no number beyond.
template <class T>
inline Vector<T> load_part(const T* from, std::int64_t count, T fill) {
#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
  if constexpr (std::is_same_v<T, float>)
    return _mm512_mask_loadu_ps(broadcast(fill), static_cast<__mmask16>((1U << count) - 1), from);
  else
    return _mm512_mask_loadu_pd(broadcast(fill), static_cast<__mmask8>((1U << count) - 1), from);
#else
  Vector<T> vector = broadcast(fill);
  for (int lane = 0; lane < kLanes<T>; ++lane)
    if (lane < count) vector[lane] = from[lane];
  return vector;
#endif
}
/// The first `count` lanes to memory. Writes no number beyond.
template <class T>
inline void store_part(T* to, const Vector<T>& vector, std::int64_t count) {
#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
  if constexpr (std::is_same_v<T, float>)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), vector);
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1), vector);
#else
  for (int lane = 0; lane < kLanes<T>; ++lane)
    if (lane < count) to[lane] = vector[lane];
#endif
}

template <class T>
inline Vector<T> larger(const Vector<T>& left, const Vector<T>& right) {
  return left > right ? left : right;
}

/// Each lane's neighbour at a distance that is a power of 2: lane k gets lane k ^ kDistance.
template <class T, std::size_t kDistance, std::size_t... kLane>
inline Vector<T> neighbours(const Vector<T>& vector, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(vector, vector, (kLane ^ kDistance)...);
}
/// All lanes joined into one by halves: combine(lane, its neighbour) until one is left. Always in this order.
template <class T, std::size_t kDistance, class Combine>
inline T fold(const Vector<T>& vector, const Combine& combine) {
  if constexpr (kDistance == 0)
    return vector[0];
  else
    return fold<T, kDistance / 2>(
        combine(vector, neighbours<T, kDistance>(vector, std::make_index_sequence<kLanes<T>>())), combine);
}
template <class T>
inline T sum_of(const Vector<T>& vector) {
  return fold<T, kLanes<T> / 2>(vector,
                                [](const Vector<T>& left, const Vector<T>& right) { return left + right; });
}
template <class T>
inline T largest_of(const Vector<T>& vector) {
  return fold<T, kLanes<T> / 2>(vector, larger<T>);
}

/// Every lane through a function of one number.
template <class T, class Function>
inline Vector<T> each_lane(Vector<T> vector, const Function& function) {
  for (int lane = 0; lane < kLanes<T>; ++lane) vector[lane] = function(vector[lane]);
  return vector;
}

/// √x, of one number or of each lane.
inline float square_root(float x) {
  return std::sqrt(x);
}
inline double square_root(double x) {
  return std::sqrt(x);
}
#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
inline Vector<float> square_root(const Vector<float>& x) {
  return _mm512_maskz_sqrt_ps(0xffff, x);
}
inline Vector<double> square_root(const Vector<double>& x) {
  return _mm512_maskz_sqrt_pd(0xff, x);
}
#else
inline Vector<float> square_root(const Vector<float>& x) {
  return each_lane<float>(x, [](float number) { return std::sqrt(number); });
}
inline Vector<double> square_root(const Vector<double>& x) {
  return each_lane<double>(x, [](double number) { return std::sqrt(number); });
}
#endif

/// e^x for x ≤ 88: in float by 2^n · e^r with a polynomial for e^r, |r| ≤ ln 2 / 2 (Cephes, expf; relative
/// error below 2e-7), 0 below e^-87, near the smallest normal number; NaN stays NaN.
template <class T>
inline Vector<T> exponential(const Vector<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return std::exp(number); });
  } else {
    using Bits = typename VectorTypes<T>::Bits;  // far below 0 the sum wraps; what it gives is then not used
    constexpr float kShift = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer in the lowest bits
    const Vector<T> shifted = x * 1.44269504F + kShift;
    const Vector<T> n = shifted - kShift;
    const Vector<T> r = (x - n * 0.693359375F) - n * -2.12194440e-4F;  // ln 2 in two pieces
    Vector<T> p = r * 1.9875691500e-4F + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = (p * r) * r + (r + 1.0F);
    const Vector<T> power =
        std::bit_cast<Vector<T>>(std::bit_cast<Bits>(p) + (std::bit_cast<Bits>(shifted) << 23U));
    const Vector<T> result = x < -87.0F ? Vector<T>{} : power;
    return x == x ? result : x;  // NOLINT(misc-redundant-expression): NaN stays NaN
  }
}

/// Φ(x), the normal distribution's share below x: (1 + erf(x/√2)) / 2. In float erf is a rational function of
/// its argument up to 4, where it is 1 to the last digit (the minimax fit of Eigen's and XLA's erf; error
/// below 3e-7).
template <class T>
inline Vector<T> normal_share(const Vector<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return 0.5 * std::erfc(number * -0.70710678118654752440); });
  } else {
    const Vector<T> z = x * 0.70710678F;
    const Vector<T> s = z * z;
    Vector<T> p = s * -2.72614225801306e-10F + 2.77068142495902e-08F;
    p = p * s - 2.10102402082508e-06F;
    p = p * s - 5.69250639462346e-05F;
    p = p * s - 7.34990630326855e-04F;
    p = p * s - 2.95459980854025e-03F;
    p = p * s - 1.60960333262415e-02F;
    Vector<T> q = s * -1.45660718464996e-05F - 2.13374055278905e-04F;
    q = q * s - 1.68282697438203e-03F;
    q = q * s - 7.37332916720468e-03F;
    q = q * s - 1.42647390514189e-02F;
    const Vector<T> share = 0.5F + 0.5F * z * p / q;
    return z > 3.9F ? broadcast(1.0F) : z < -3.9F ? Vector<T>{} : share;
  }
}

/// Calls visit(place, count) for every vector of a row of `n` numbers; count is below kLanes at its end only.
template <class T, class Visit>
inline void for_vectors(std::int64_t n, const Visit& visit) {
  std::int64_t place = 0;
  for (; place + kLanes<T> <= n; place += kLanes<T>) visit(place, std::int64_t{kLanes<T>});
  if (place < n) visit(place, n - place);
}
template <class T>
inline Vector<T> load_some(const T* from, std::int64_t count, T fill = 0) {
  return count == kLanes<T> ? load(from) : load_part(from, count, fill);
}
template <class T>
inline void store_some(T* to, const Vector<T>& vector, std::int64_t count) {
  if (count == kLanes<T>)
    store(to, vector);
  else
    store_part(to, vector, count);
}

/// Lanes [lane, lane + count) from the numbers that begin at `from`, 0 in the others.
template <class T>
inline Vector<T> load_lanes(const T* from, std::int64_t lane, std::int64_t count) {
#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
  if constexpr (std::is_same_v<T, float>)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(((1U << count) - 1) << lane), from - lane);
  else
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>(((1U << count) - 1) << lane), from - lane);
#else
  if (lane == 0) return load_some<T>(from, count);
  Vector<T> vector{};
  for (std::int64_t k = 0; k < count; ++k) vector[lane + k] = from[k];
  return vector;
#endif
}
/// Lanes [lane, lane + count) to the numbers that begin at `to`.
template <class T>
inline void store_lanes(T* to, std::int64_t lane, std::int64_t count, const Vector<T>& vector) {
#if defined(__AVX512F__) && !defined(HEADSCOPE_SCALAR)
  if constexpr (std::is_same_v<T, float>)
    _mm512_mask_storeu_ps(to - lane, static_cast<__mmask16>(((1U << count) - 1) << lane), vector);
  else
    _mm512_mask_storeu_pd(to - lane, static_cast<__mmask8>(((1U << count) - 1) << lane), vector);
#else
  if (lane == 0) return store_some<T>(to, vector, count);
  for (std::int64_t k = 0; k < count; ++k) to[k] = vector[lane + k];
#endif
}

/// Copies a run of numbers; short ones without the call that std::copy_n is.
template <class T>
inline void copy_numbers(const T* from, std::int64_t n, T* to) {
  constexpr std::int64_t kShort = 256;
  if (n > kShort)
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  else
    for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
      store_some<T>(to + at, load_some<T>(from + at, count), count);
    });
}
template <class T>
inline void fill_numbers(T* to, std::int64_t n, T number) {
  for_vectors<T>(
      n, [&](std::int64_t at, std::int64_t count) { store_some<T>(to + at, broadcast(number), count); });
}

/// to[k] = function(from[k]) for n numbers.
template <class T, class Function>
inline void map_numbers(std::int64_t n, const T* from, T* to, const Function& function) {
  for_vectors<T>(n, [&](std::int64_t place, std::int64_t count) {
    store_some<T>(to + place, function(load_some<T>(from + place, count)), count);
  });
}
/// to[k] = function(left[k], right[k]).
template <class T, class Function>
inline void map_numbers(std::int64_t n, const T* left, const T* right, T* to, const Function& function) {
  for_vectors<T>(n, [&](std::int64_t place, std::int64_t count) {
    store_some<T>(to + place, function(load_some<T>(left + place, count), load_some<T>(right + place, count)),
                  count);
  });
}
/// Σ function(k's numbers): lanes first, then across them, so that the order depends on n alone.
template <class T, class Function>
inline T sum_numbers(std::int64_t n, const Function& function) {
  Vector<T> sum{};
  for_vectors<T>(n, [&](std::int64_t place, std::int64_t count) { sum += function(place, count); });
  return sum_of<T>(sum);
}

}  // namespace headscope::core
