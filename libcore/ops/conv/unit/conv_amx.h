/* conv_amx.h - what sources that multiply tiles (AMX) share: their configuration, and 16 lines of
 * words that are turned. For sources of that instruction set alone. */
#ifndef CONV_AMX_H
#define CONV_AMX_H
#include <immintrin.h>
#include <stdint.h>

/* Lines of a tile, and words of 4 bytes in one. */
enum { CONV_AMX_SIDE = 16 };

/* What LDTILECFG reads. */
typedef struct conv_amx_config {
  uint8_t palette, start, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} conv_amx_config;

/* To gcc (12) LDTILECFG reads the first word alone, so that it may leave out what is written to the
 * others: the first line has all of it written. */
static inline void conv_amx_configure(const conv_amx_config *c)
{
  __asm__ volatile("" : : "m"(*c));
  _tile_loadconfig(c);
}

/* Writes word j of line i as word i of line j. */
static inline __attribute__((always_inline)) void conv_amx_turn(__m512i d[CONV_AMX_SIDE],
                                                                void *turned)
{
  __m512i e[CONV_AMX_SIDE];
  int32_t *to = turned;

#pragma GCC unroll 8
  for (int i = 0; i < CONV_AMX_SIDE; i += 2) {
    e[i] = _mm512_unpacklo_epi32(d[i], d[i + 1]);
    e[i + 1] = _mm512_unpackhi_epi32(d[i], d[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < CONV_AMX_SIDE; i += 4) {
    d[i] = _mm512_unpacklo_epi64(e[i], e[i + 2]);
    d[i + 1] = _mm512_unpackhi_epi64(e[i], e[i + 2]);
    d[i + 2] = _mm512_unpacklo_epi64(e[i + 1], e[i + 3]);
    d[i + 3] = _mm512_unpackhi_epi64(e[i + 1], e[i + 3]);
  }
  /* Now d[4 g + c] has column c + 4 l of lines 4 g to 4 g + 3 in its part l of four words. */
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m512i low = _mm512_shuffle_i32x4(d[c], d[4 + c], 0x44),
                  high = _mm512_shuffle_i32x4(d[c], d[4 + c], 0xee),
                  low2 = _mm512_shuffle_i32x4(d[8 + c], d[12 + c], 0x44),
                  high2 = _mm512_shuffle_i32x4(d[8 + c], d[12 + c], 0xee);

    _mm512_storeu_si512(to + CONV_AMX_SIDE * c, _mm512_shuffle_i32x4(low, low2, 0x88));
    _mm512_storeu_si512(to + CONV_AMX_SIDE * (4 + c), _mm512_shuffle_i32x4(low, low2, 0xdd));
    _mm512_storeu_si512(to + CONV_AMX_SIDE * (8 + c), _mm512_shuffle_i32x4(high, high2, 0x88));
    _mm512_storeu_si512(to + CONV_AMX_SIDE * (12 + c), _mm512_shuffle_i32x4(high, high2, 0xdd));
  }
}

#endif
