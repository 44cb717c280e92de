/* winograd_amx.c - Winograd convolutions of bf16 whose products are those of tiles (AMX): one
 * instruction multiplies 16 rows of 16 words by 16 words of 16 columns. Transforms are those of
 * AVX-512. */
#if defined(__x86_64__)
#include "ops/conv/unit/conv_amx.h"
#include "ops/conv/winograd/winograd_avx512bf16.h"
#undef V_ROWS
#define V_ROWS 32

/* Words of 4 bytes, rows and columns of a tile. Tiles 0 to 3 are sums, of two times two; 4 and 5
 * rows of a, 6 and 7 columns of b. */
enum { SIDE = 16, LINE = SIDE * 4 };

/* rows: of a, at most two tiles; k: words, at most one tile. */
static void configure(int64_t rows, int64_t k)
{
  conv_amx_config c = {.palette = 1};

  for (int i = 0; i < 8; i++) {
    const int64_t first = winograd_min(rows, SIDE), second = rows - first;
    const bool is_second = i == 2 || i == 3 || i == 5;

    c.row_bytes[i] = (uint16_t)(i == 4 || i == 5 ? 4 * k : LINE);
    c.rows[i] = (uint8_t)(i >= 6 ? k : !is_second ? first : second > 0 ? second : 1);
  }
  conv_amx_configure(&c);
}

/* 16 lines of 16 words, step apart, turned. */
static void turn(const winograd_word *from, int64_t step, int64_t lines, winograd_word *to)
{
  __m512i d[SIDE];

  for (int i = 0; i < SIDE; i++) {
    d[i] = i < lines ? _mm512_loadu_si512(from + i * step) : _mm512_setzero_si512();
  }
  conv_amx_turn(d, to);
}

/* Where a tile of a lies, and bytes between its rows. */
typedef struct lines {
  const winograd_word *at;
  int64_t bytes;
} lines;

/* One panel of `vectors` vectors, `blocks` tiles along k of a, two[i] of which are rows beyond the
 * first 16. */
static inline __attribute__((always_inline)) void
tile_block(const winograd_product *p, const lines *one, const lines *two, int64_t blocks,
           const winograd_word *b, float *c, const bool wide, const bool tall, bool adds)
{
  const int64_t line = 4 * p->c_row, step = 4 * p->b_k;

  if (adds) {
    _tile_loadd(0, c, line);
    if (wide) {
      _tile_loadd(1, c + SIDE, line);
    }
    if (tall) {
      _tile_loadd(2, c + SIDE * p->c_row, line);
    }
    if (wide && tall) {
      _tile_loadd(3, c + SIDE * p->c_row + SIDE, line);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t i = 0; i < blocks; i++, b += SIDE * p->b_k) {
    _tile_loadd(4, one[i].at, one[i].bytes);
    _tile_loadd(6, b, step);
    _tile_dpbf16ps(0, 4, 6);
    if (wide) {
      _tile_loadd(7, b + SIDE, step);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (tall) {
      _tile_loadd(5, two[i].at, two[i].bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if (wide && tall) {
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, line);
  if (wide) {
    _tile_stored(1, c + SIDE, line);
  }
  if (tall) {
    _tile_stored(2, c + SIDE * p->c_row, line);
  }
  if (wide && tall) {
    _tile_stored(3, c + SIDE * p->c_row + SIDE, line);
  }
}

/* Tiles along k whose rows of a are held at a time. */
enum { HELD = 8 };

/* Rows [r, r + rows), at most 32, times words [k, k + blocks words): all columns. */
static void tile_rows(const winograd_product *p, int64_t r, int64_t rows, int64_t k, int64_t blocks,
                      int64_t words, bool adds)
{
  _Alignas(64) winograd_word turned[2][HELD][SIDE * SIDE];
  lines a[2][HELD];
  const bool tall = rows > SIDE;

  for (int half = 0; half <= tall; half++) {
    for (int64_t i = 0; i < blocks; i++) {
      const winograd_word *from = p->a + (r + SIDE * half) * p->a_row + (k + SIDE * i) * p->a_k;

      a[half][i] = (lines){from, 4 * p->a_row};
      if (p->a_k != 1) {
        turn(from, p->a_k, words, turned[half][i]);
        a[half][i] = (lines){turned[half][i], LINE};
      }
    }
  }
  for (int64_t v = 0; v < p->vectors; v += 2) {
    const winograd_word *b = p->b + v / 2 * p->b_panel + k * p->b_k;
    float *c = p->c + r * p->c_row + v * SIDE;

    if (v + 1 < p->vectors) {
      if (tall) {
        tile_block(p, a[0], a[1], blocks, b, c, true, true, adds);
      } else {
        tile_block(p, a[0], a[1], blocks, b, c, true, false, adds);
      }
    } else if (tall) {
      tile_block(p, a[0], a[1], blocks, b, c, false, true, adds);
    } else {
      tile_block(p, a[0], a[1], blocks, b, c, false, false, adds);
    }
  }
}

/* Rows [r, end) in steps of `rows`, tiles of `words` words. */
static void tile_all(const winograd_product *p, int64_t r, int64_t end, int64_t rows, int64_t k,
                     int64_t k_end, int64_t words)
{
  if (r >= end || k >= k_end) {
    return;
  }
  configure(rows, words);
  for (; r < end; r += rows) {
    for (int64_t at = k; at < k_end; at += HELD * SIDE) {
      tile_rows(p, r, rows, at, winograd_min(HELD, (k_end - at + SIDE - 1) / SIDE), words,
                p->adds || at > 0);
    }
  }
}

static void tile_product(const winograd_product *p)
{
  const int64_t rows = p->rows / (2 * SIDE) * 2 * SIDE, k = p->k / SIDE * SIDE;
  _Alignas(64) conv_amx_config others;

  _tile_storeconfig(&others);
  tile_all(p, 0, rows, 2 * SIDE, 0, k, SIDE);
  tile_all(p, 0, rows, 2 * SIDE, k, p->k, p->k - k);
  tile_all(p, rows, p->rows, p->rows - rows, 0, k, SIDE);
  tile_all(p, rows, p->rows, p->rows - rows, k, p->k, p->k - k);
  conv_amx_configure(&others); /* a library may rely on its own */
}

#define V_PRODUCT tile_product
#define V_TILES true
#define TABLE weir_winograd_amx
#include "ops/conv/winograd/winograd_kernel.h"
#endif
