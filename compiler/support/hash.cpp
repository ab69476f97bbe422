#include "compiler/support/hash.h"

#include <array>
#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace rondo {
namespace {

using Block = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void compress(Block& state, const unsigned char* chunk) {
  std::array<std::uint32_t, 64> w{};
  for (int i = 0; i < 16; ++i)
    w[i] = std::uint32_t{chunk[4 * i]} << 24 | std::uint32_t{chunk[4 * i + 1]} << 16 |
           std::uint32_t{chunk[4 * i + 2]} << 8 | std::uint32_t{chunk[4 * i + 3]};
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const Block add = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += add[i];
}

void compress_all(Block& state, const unsigned char* chunks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) compress(state, chunks + 64 * i);
}

using Compress = void (*)(Block& state, const unsigned char* chunks, std::size_t count);

#if defined(__x86_64__)

// Intel 64 Architectures Software Developer's Manual, CPUID: leaf 7, EBX bit 29 is SHA; leaf 1, ECX bit 19 is
// SSE4.1.
bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 19 & 1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}

// The same by the processor's own instructions, which take the state as two vectors, {f, e, b, a} and
// {h, g, d, c} from the lowest lane (the same manual, SHA256RNDS2). It is ten times as fast, and a kernel
// from the database is hashed before it is loaded.
__attribute__((target("sha,sse4.1"))) void compress_by_instructions(Block& state, const unsigned char* chunks,
                                                                    std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  auto* words = reinterpret_cast<__m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
  __m128i feba = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i hgdc = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (std::size_t chunk = 0; chunk < count; ++chunk) {
    const __m128i feba_before = feba, hgdc_before = hgdc;
    __m128i w[16];
    for (int i = 0; i < 16; ++i) {
      if (i < 4) {
        const auto* from = reinterpret_cast<const __m128i*>(chunks + 64 * chunk + 16 * i);
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128(from), big_endian);
      } else {
        const __m128i sum =
            _mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]), _mm_alignr_epi8(w[i - 1], w[i - 2], 4));
        w[i] = _mm_sha256msg2_epu32(sum, w[i - 1]);
      }
      const __m128i round = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRound.data() + 4 * i));
      const __m128i message = _mm_add_epi32(w[i], round);
      hgdc = _mm_sha256rnds2_epu32(hgdc, feba, message);
      feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(message, 0x0E));
    }
    feba = _mm_add_epi32(feba, feba_before);
    hgdc = _mm_add_epi32(hgdc, hgdc_before);
  }
  const __m128i abef = _mm_shuffle_epi32(feba, 0x1B);
  const __m128i ghcd = _mm_shuffle_epi32(hgdc, 0xB1);
  _mm_storeu_si128(words, _mm_blend_epi16(abef, ghcd, 0xF0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(ghcd, abef, 8));
}

Compress fastest() { return has_sha_instructions() ? &compress_by_instructions : &compress_all; }

#else

Compress fastest() { return &compress_all; }

#endif

std::string hash_by(Compress compress_chunks, std::string_view bytes) {
  Block state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(bytes);
  padded.push_back('\x80');
  while (padded.size() % 64 != 56) padded.push_back('\0');
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift & 0xff));
  compress_chunks(state, reinterpret_cast<const unsigned char*>(padded.data()), padded.size() / 64);
  std::string hex;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) hex.push_back("0123456789abcdef"[word >> shift & 15]);
  return hex;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  static const Compress compress_chunks = fastest();
  return hash_by(compress_chunks, bytes);
}

std::string sha256_hex_portable(std::string_view bytes) { return hash_by(&compress_all, bytes); }

}  // namespace rondo
