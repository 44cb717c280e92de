/* tiles_amx.c - products of tiles of bf16 (AMX), and what puts numbers into them. */
#if defined(__x86_64__)
#include "ops/conv/tiles/tiles_priv.h"
#include "ops/conv/unit/conv_amx.h"

/* Bytes of a row, and numbers of bf16 and f32 in a tile. */
enum { LINE = 64, TILE = TILES_SIDE * TILES_WIDE, SUMS = TILES_SIDE * TILES_SIDE };

/* All tiles are whole. */
static const conv_amx_config whole = {.palette = 1,
                                      .row_bytes = {LINE, LINE, LINE, LINE, LINE, LINE, LINE, LINE},
                                      .rows = {TILES_SIDE, TILES_SIDE, TILES_SIDE, TILES_SIDE,
                                               TILES_SIDE, TILES_SIDE, TILES_SIDE, TILES_SIDE}};

static void begin(void *others)
{
  _tile_storeconfig(others);
  conv_amx_configure(&whole);
}

static void end(const void *others)
{
  conv_amx_configure(others); /* a library may rely on its own */
}

/* One step of the sum. Tiles 0 to 3 are sums, of two times two; 4 and 5 rows of a, 6 and 7 columns
 * of b. */
static inline __attribute__((always_inline)) void multiply(const void *a, const void *a_second,
                                                           int64_t a_line, const void *b,
                                                           const void *b_second, const bool wide,
                                                           const bool tall)
{
  _tile_loadd(4, a, a_line);
  _tile_loadd(6, b, LINE);
  _tile_dpbf16ps(0, 4, 6);
  if (wide) {
    _tile_loadd(7, b_second, LINE);
    _tile_dpbf16ps(1, 4, 7);
  }
  if (tall) {
    _tile_loadd(5, a_second, a_line);
    _tile_dpbf16ps(2, 5, 6);
  }
  if (wide && tall) {
    _tile_dpbf16ps(3, 5, 7);
  }
}

static inline __attribute__((always_inline)) void outputs_as(const tiles_product *p,
                                                             const bool wide, const bool tall)
{
  const weir_bf16 *b = p->b;
  const int64_t line = TILES_WIDE * (int64_t)sizeof(float), second = TILES_SIDE * p->a_line / 2;

  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t tap = 0; tap < p->taps; tap++) {
    const weir_bf16 *a = p->a + p->a_at[tap];

    for (int64_t i = 0; i < p->depth; i++, a += TILES_WIDE, b += 2 * TILE) {
      multiply(a, a + second, p->a_line, b, b + TILE, wide, tall);
    }
  }
  _tile_stored(0, p->sums, line);
  _tile_stored(1, p->sums + TILES_SIDE, line);
  _tile_stored(2, p->sums + TILES_SIDE * TILES_WIDE, line);
  _tile_stored(3, p->sums + TILES_SIDE * TILES_WIDE + TILES_SIDE, line);
}

/* Steps of the sums of one tap at a time, so that what neighbouring taps read again is in L1. */
enum { NEAR = 8 };

static inline __attribute__((always_inline)) void add_steps(const tiles_product *p,
                                                            const weir_bf16 *a, const weir_bf16 *b,
                                                            float *sums, bool adds, int64_t steps,
                                                            const bool wide, const bool tall)
{
  if (adds) {
    _tile_loadd(0, sums, LINE);
    _tile_loadd(1, sums + SUMS, LINE);
    _tile_loadd(2, sums + 2 * SUMS, LINE);
    _tile_loadd(3, sums + 3 * SUMS, LINE);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t i = 0; i < steps; i++, a += TILE, b += TILE) {
    multiply(a, a + p->a_second, LINE, b, b + p->b_second, wide, tall);
  }
  _tile_stored(0, sums, LINE);
  _tile_stored(1, sums + SUMS, LINE);
  _tile_stored(2, sums + 2 * SUMS, LINE);
  _tile_stored(3, sums + 3 * SUMS, LINE);
}

static inline __attribute__((always_inline)) void weights_as(const tiles_product *p,
                                                             const bool wide, const bool tall)
{
  for (int64_t plane = 0; plane < p->planes; plane++) {
    const weir_bf16 *a = p->a + plane * p->a_step, *b = p->b + plane * p->b_step;

    for (int64_t i = 0; i < p->depth; i += NEAR) {
      for (int64_t tap = 0; tap < p->taps; tap++) {
        add_steps(p, a + tap % 2 * p->a_late + i * TILE, b + tap / 2 * TILES_WIDE + i * TILE,
                  p->sums + tap * TILES_SUMS, p->adds || plane > 0 || i > 0,
                  p->depth - i < NEAR ? p->depth - i : NEAR, wide, tall);
      }
    }
  }
}

#define BY_SIDES(name)                                                  \
  static void name(const tiles_product *p)                              \
  {                                                                     \
    if (p->wide) {                                                      \
      p->tall ? name##_as(p, true, true) : name##_as(p, true, false);   \
    } else {                                                            \
      p->tall ? name##_as(p, false, true) : name##_as(p, false, false); \
    }                                                                   \
  }
BY_SIDES(outputs)
BY_SIDES(weights)

static __mmask16 first(int64_t n)
{
  return (__mmask16)(n >= TILES_SIDE ? 0xffff : n <= 0 ? 0 : (1 << n) - 1);
}

static uint32_t store(const float *sums, int64_t n, void *const *to, bool half)
{
  const __mmask16 low = first(n), high = first(n - TILES_SIDE);
  uint32_t wrong = 0;

  for (int i = 0; i < TILES_WIDE; i++, sums += TILES_WIDE) {
    if (to[i] == NULL) {
      continue;
    }
    const __m512 a = _mm512_loadu_ps(sums), b = _mm512_loadu_ps(sums + TILES_SIDE);
    const __m512 zero = _mm512_setzero_ps();
    const bool finite =
        (_mm512_mask_cmp_ps_mask(low, _mm512_sub_ps(a, a), zero, _CMP_NEQ_UQ) |
         _mm512_mask_cmp_ps_mask(high, _mm512_sub_ps(b, b), zero, _CMP_NEQ_UQ)) == 0;

    wrong |= finite ? 0 : 1u << i;
    if (half) {
      weir_bf16 *out = to[i];

      _mm256_mask_storeu_epi16(out, low, (__m256i)_mm512_cvtneps_pbh(a));
      _mm256_mask_storeu_epi16(out + TILES_SIDE, high, (__m256i)_mm512_cvtneps_pbh(b));
    } else {
      float *out = to[i];

      _mm512_mask_storeu_ps(out, low, a);
      _mm512_mask_storeu_ps(out + TILES_SIDE, high, b);
    }
  }
  return wrong;
}

/* 16 numbers of two positions as words. */
static inline __m512i words(const weir_bf16 *one, const weir_bf16 *two)
{
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)one));
  const __m512i high =
      _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)two));

  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

static void pair(const weir_bf16 *from, int64_t pairs, int64_t channels, weir_bf16 *to,
                 int64_t step)
{
  for (int64_t i = 0; i < pairs; i++, from += 2 * channels, to += TILES_WIDE) {
    for (int64_t c = 0; c < channels; c += TILES_SIDE) {
      _mm512_storeu_si512(to + c / TILES_SIDE * step, words(from + c, from + channels + c));
    }
  }
}

static void turn(const weir_bf16 *from, int64_t line, weir_bf16 *to)
{
  __m512i d[TILES_SIDE];

#pragma GCC unroll 16
  for (int i = 0; i < TILES_SIDE; i++) {
    d[i] = words(from + 2 * i * line, from + (2 * i + 1) * line);
  }
  conv_amx_turn(d, to);
}

const tiles_code weir_tiles_amx = {
    .begin = begin,
    .end = end,
    .outputs = outputs,
    .weights = weights,
    .store = store,
    .pair = pair,
    .turn = turn,
};
#endif
