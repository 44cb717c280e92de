/* planes_kernel.h - transforms of real planes in one dtype. Before it, a source defines REAL and
 * PLANES(name). Complex numbers are pairs of REAL. */

/* n numbers, a vector at a time: rows are too short for a call each. */
static inline void PLANES(copy)(REAL *restrict to, const REAL *restrict from, int64_t n)
{
  enum { VECTOR = 64 / sizeof(REAL) };
  int64_t k = 0;

  for (; k + VECTOR <= n; k += VECTOR) {
    memcpy(to + k, from + k, VECTOR * sizeof *to);
  }
  for (; k < n; k++) {
    to[k] = from[k];
  }
}

/* Rows of a spectrum to the rows of their waves among n, in memory of `pitch` complex numbers a
 * row; the other rows, and what is beyond a row, are 0. */
static void PLANES(load)(const planes *c, const weir_matrix *from, REAL *to)
{
  const int64_t n = 2 * c->pitch, waves = 2 * from->columns, half = (from->rows + 1) / 2;
  const size_t row = (size_t)n * sizeof *to;

  memset(to + half * n, 0, (size_t)(c->ny - from->rows) * row);
  for (int64_t r = 0; r < from->rows; r++) {
    const REAL *const source = (const REAL *)from->data + 2 * r * from->down;
    REAL *const wave = to + weir_fft_wave(c->node->spec, 0, from->rows, c->ny, r) * n;

    if (from->across == 1) {
      PLANES(copy)(wave, source, waves);
    } else {
      for (int64_t k = 0; k < waves; k++) {
        wave[k] = source[k / 2 * 2 * from->across + k % 2];
      }
    }
    for (int64_t k = waves; k < n; k++) {
      wave[k] = 0;
    }
  }
}

/* The way back. */
static void PLANES(store)(const planes *c, const REAL *from, const weir_matrix *to)
{
  const int64_t n = 2 * c->pitch, waves = 2 * to->columns;

  for (int64_t r = 0; r < to->rows; r++) {
    const REAL *const wave = from + weir_fft_wave(c->node->spec, 0, to->rows, c->ny, r) * n;
    REAL *const target = (REAL *)to->data + 2 * r * to->down;

    if (to->across == 1) {
      PLANES(copy)(target, wave, waves);
    } else {
      for (int64_t k = 0; k < waves; k++) {
        target[k / 2 * 2 * to->across + k % 2] = wave[k];
      }
    }
  }
}

/* The spectrum, of nx waves, of the rows whose first waves are a and b, as real and imaginary part:
 * a + i b at k, conj(a) + i conj(b) at nx - k. What is between them is left alone. */
static void PLANES(pair)(const planes *c, const REAL *restrict a, const REAL *restrict b,
                         REAL *restrict to)
{
  const int64_t nx = c->nx, end = c->waves < (nx + 1) / 2 ? c->waves : (nx + 1) / 2;
  REAL *restrict const mirror = to + 2 * nx;

  to[0] = a[0];
  to[1] = b[0];
  for (int64_t k = 1; k < end; k++) {
    to[2 * k] = a[2 * k] - b[2 * k + 1];
    to[2 * k + 1] = a[2 * k + 1] + b[2 * k];
  }
  for (int64_t k = 1; k < end; k++) {
    mirror[-2 * k] = a[2 * k] + b[2 * k + 1];
    mirror[-2 * k + 1] = b[2 * k] - a[2 * k + 1];
  }
  if (c->waves > end) { /* as many positive as negative ones, of even nx */
    to[2 * end] = a[2 * end];
    to[2 * end + 1] = b[2 * end];
  }
}

/* The first waves of the real part (a) and of the imaginary part (b) of what z is the spectrum of,
 * times c->scale; 0 beyond them. */
static void PLANES(split)(const planes *c, const REAL *restrict z, REAL *restrict a,
                          REAL *restrict b)
{
  const REAL *restrict const mirror = z + 2 * c->nx;
  const REAL scale = (REAL)c->scale, half = (REAL)(0.5 * c->scale);

  a[0] = scale * z[0];
  b[0] = scale * z[1];
  a[1] = b[1] = 0;
  for (int64_t k = 1; k < c->waves; k++) {
    a[2 * k] = half * (z[2 * k] + mirror[-2 * k]);
    a[2 * k + 1] = half * (z[2 * k + 1] - mirror[-2 * k + 1]);
    b[2 * k] = half * (z[2 * k + 1] + mirror[-2 * k + 1]);
    b[2 * k + 1] = half * (mirror[-2 * k] - z[2 * k]);
  }
  for (int64_t k = 2 * c->waves; k < 2 * c->pitch; k++) {
    a[k] = b[k] = 0;
  }
}

/* Real and imaginary parts to two rows; b NULL: to one. */
static void PLANES(part)(const planes *c, const REAL *restrict z, int64_t across, REAL *restrict a,
                         REAL *restrict b)
{
  const REAL scale = (REAL)c->scale;

  if (across == 1 && b != NULL) {
    for (int64_t i = 0; i < c->nx; i++) {
      a[i] = scale * z[2 * i];
      b[i] = scale * z[2 * i + 1];
    }
    return;
  }
  for (int64_t i = 0; i < c->nx; i++) {
    a[i * across] = scale * z[2 * i];
    if (b != NULL) {
      b[i * across] = scale * z[2 * i + 1];
    }
  }
}

/* The way back, not scaled. */
static void PLANES(join)(const planes *c, const REAL *restrict a, const REAL *restrict b,
                         int64_t across, REAL *restrict z)
{
  if (across == 1 && b != NULL) {
    for (int64_t i = 0; i < c->nx; i++) {
      z[2 * i] = a[i];
      z[2 * i + 1] = b[i];
    }
    return;
  }
  for (int64_t i = 0; i < c->nx; i++) {
    z[2 * i] = a[i * across];
    z[2 * i + 1] = b != NULL ? b[i * across] : 0;
  }
}

static void PLANES(columns_to_real)(const planes *c, const weir_matrix *spectrum, void *mixed,
                                    void *memory)
{
  const int64_t n = 2 * c->pitch;

  PLANES(load)(c, spectrum, memory);
  weir_fft_plan_run(c->along_y, memory, mixed);
  memset((REAL *)mixed + c->ny * n, 0, (size_t)((c->rows - c->ny) * n) * sizeof(REAL));
}

static void PLANES(columns_from_real)(const planes *c, const weir_matrix *spectrum, void *mixed,
                                      void *memory)
{
  weir_fft_plan_run(c->along_y, mixed, memory);
  PLANES(store)(c, memory, spectrum);
}

static void PLANES(rows_to_real)(const planes *c, void *mixed, int64_t from, int64_t to,
                                 const weir_matrix *plane, void *memory)
{
  const int64_t n = 2 * c->pitch, nx = c->nx;
  REAL *const in = memory, *const out = in + 2 * c->line;

  for (int64_t y = from; y < to; y += 2 * c->lines) {
    for (int64_t l = 0; l < c->lines; l++) {
      const REAL *const first = (const REAL *)mixed + (y + 2 * l) * n;

      PLANES(pair)(c, first, first + n, in + l * 2 * nx);
    }
    weir_fft_plan_run(c->along_x, in, out);
    for (int64_t l = 0; l < c->lines; l++) {
      REAL *const first = (REAL *)plane->data + (y + 2 * l) * plane->down;

      PLANES(part)
      (c, out + l * 2 * nx, plane->across, first,
       y + 2 * l + 1 < c->ny ? first + plane->down : NULL);
    }
  }
}

static void PLANES(rows_from_real)(const planes *c, void *mixed, int64_t from, int64_t to,
                                   const weir_matrix *plane, void *memory)
{
  const int64_t n = 2 * c->pitch, nx = c->nx;
  REAL *const in = memory, *const out = in + 2 * c->line;

  for (int64_t y = from; y < to; y += 2 * c->lines) {
    for (int64_t l = 0; l < c->lines; l++) {
      const REAL *const first = (const REAL *)plane->data + (y + 2 * l) * plane->down;

      PLANES(join)
      (c, first, y + 2 * l + 1 < c->ny ? first + plane->down : NULL, plane->across,
       in + l * 2 * nx);
    }
    weir_fft_plan_run(c->along_x, in, out);
    for (int64_t l = 0; l < c->lines; l++) {
      REAL *const first = (REAL *)mixed + (y + 2 * l) * n;

      PLANES(split)(c, out + l * 2 * nx, first, first + n);
    }
  }
}
