// Numbers in vectors of the machine's width, through the compiler's vector types: the same source for
// AVX-512, AVX, SSE, WebAssembly and, with HEADSCOPE_SCALAR, one number at a time. What a lane holds depends
// on that lane's input alone, so a number's bits do not depend on where in a row it stands.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

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
inline Vector<T> select(const VectorMask<T>& condition, const Vector<T>& yes, const Vector<T>& no) {
  return condition ? yes : no;
}
template <class T>
inline Vector<T> larger(const Vector<T>& left, const Vector<T>& right) {
  return left > right ? left : right;
}

/// The lanes' sum, always in the same order.
template <class T>
inline T sum_of(const Vector<T>& vector) {
  T sums[kLanes<T>];
  std::memcpy(sums, &vector, sizeof vector);
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}
template <class T>
inline T largest_of(const Vector<T>& vector) {
  T numbers[kLanes<T>];
  std::memcpy(numbers, &vector, sizeof vector);
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane)
      numbers[lane] = numbers[lane] > numbers[lane + half] ? numbers[lane] : numbers[lane + half];
  return numbers[0];
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
/// error below 2e-7), exactly 0 below the smallest normal number; NaN stays NaN.
template <class T>
inline Vector<T> exponential(const Vector<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return std::exp(number); });
  } else {
    using Integers = VectorMask<T>;
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
        std::bit_cast<Vector<T>>(std::bit_cast<Integers>(p) + (std::bit_cast<Integers>(shifted) << 23));
    const Vector<T> result = x < -87.0F ? Vector<T>{} : power;
    return x == x ? result : x;
  }
}

/// Φ(x), the normal distribution's share below x: erfc(-x/√2) / 2, in float by Press et al. 1992, section 6.2
/// (relative error of erfc below 1.2e-7 before rounding).
template <class T>
inline Vector<T> normal_share(const Vector<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return 0.5 * std::erfc(number * -0.70710678118654752440); });
  } else {
    const Vector<T> magnitude = x < 0.0F ? -x : x;
    const Vector<T> z = magnitude * 0.70710678F;
    const Vector<T> t = 1.0F / (1.0F + 0.5F * z);
    Vector<T> p = t * 0.17087277F - 0.82215223F;
    p = p * t + 1.48851587F;
    p = p * t - 1.13520398F;
    p = p * t + 0.27886807F;
    p = p * t - 0.18628806F;
    p = p * t + 0.09678418F;
    p = p * t + 0.37409196F;
    p = p * t + 1.00002368F;
    p = p * t - 1.26551223F;
    const Vector<T> tail = 0.5F * t * exponential<T>(p - z * z);  // Φ(-|x|)
    return x < 0.0F ? tail : 1.0F - tail;
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
