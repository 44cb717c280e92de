/* field.c - see field.h. */
#include "data/simulation/field.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_scalar.h"

#define PI 3.14159265358979323846
enum { BLOCKS = 64, LANES = 4 /* numbers of a draw */, NOISE = 1 /* purpose */ };

/* sqrt(-2 ln u), u in (0, 1] from 31 bits. */
static inline float radius_of(uint32_t bits)
{
  const float u = ((float)(int32_t)(bits >> 1) + 0.5f) * 0x1p-31f;

  return weir_sqrt_f32(-2 * weir_log_f32(u));
}

/* Computes cosine and sine of 2 pi bits / 2^32: reduced to within pi / 4, where the series are
 * truncated below half an ulp. */
static inline void sincos_of(uint32_t bits, float *cosine, float *sine)
{
  const uint32_t moved = bits + 0x20000000u, quarter = moved >> 30;
  const float x =
      (float)((int32_t)(moved & 0x3FFFFFFFu) - 0x20000000) * (float)(PI / 2 / 0x40000000);
  const float z = x * x;
  const float c = 1 + z * (-1.0f / 2 + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
  const float s =
      x + x * z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880))));
  const float a = quarter & 1u ? s : c, b = quarter & 1u ? c : s;

  *cosine = (quarter + 1u) & 2u ? -a : a;
  *sine = quarter & 2u ? -b : b;
}

/* LANES numbers of each of n <= BLOCKS draws. */
static void draw(uint64_t seed, uint64_t first, int64_t n, float *restrict out)
{
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t bits[LANES][BLOCKS];
  float value[LANES][BLOCKS];

  for (int64_t b = 0; b < n; b++) {
    const uint64_t at = first + (uint64_t)b;
    const uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), NOISE, 0};
    uint32_t word[4];

    weir_philox(counter, key, word);
    for (int lane = 0; lane < LANES; lane++) {
      bits[lane][b] = word[lane];
    }
  }
  for (int lane = 0; lane < LANES; lane += 2) {
    for (int64_t b = 0; b < n; b++) {
      const float radius = radius_of(bits[lane][b]);
      float cosine, sine;

      sincos_of(bits[lane + 1][b], &cosine, &sine);
      value[lane][b] = radius * cosine;
      value[lane + 1][b] = radius * sine;
    }
  }
  for (int64_t b = 0; b < n; b++) {
    for (int lane = 0; lane < LANES; lane++) {
      out[LANES * b + lane] = value[lane][b];
    }
  }
}

/* Draws numbers of sites [site, site + n). */
static void draw_row(uint64_t seed, uint64_t site, int64_t n, float *out)
{
  float buffer[LANES * BLOCKS];

  for (int64_t done = 0; done < n;) {
    const uint64_t at = site + (uint64_t)done;
    const int64_t skip = (int64_t)(at % LANES), blocks = (skip + n - done + LANES - 1) / LANES;
    const int64_t now = blocks < BLOCKS ? blocks : BLOCKS;
    const int64_t have = now * LANES - skip, take = have < n - done ? have : n - done;

    draw(seed, at / LANES, now, buffer);
    for (int64_t i = 0; i < take; i++) {
      out[done + i] = buffer[skip + i];
    }
    done += take;
  }
}

typedef struct noise {
  uint64_t seed;
  int64_t n, pitch, first;
  float *out;
} noise;

static void noise_plane(void *context, int64_t item, int thread)
{
  const noise *const w = context;

  (void)thread;
  for (int64_t y = 0; y < w->n; y++) {
    const int64_t row = item * w->n + y;

    draw_row(w->seed, (uint64_t)((w->first * w->n + row) * w->n), w->n, w->out + row * w->pitch);
  }
}

void cf_noise(uint64_t seed, int64_t n, int64_t pitch, int64_t first, int64_t n_planes, float *out)
{
  noise w = {seed, n, pitch, first, out};

  weir_parallel(n_planes, 0, noise_plane, &w);
}

typedef struct colour {
  const cf_mesh *m;
  const float *root; /* [cf_mesh_squares] */
  bool fixed;
  float *delta;
} colour;

static void colour_plane(void *context, int64_t x, int thread)
{
  const colour *const w = context;
  const int64_t n = cf_mesh_side(w->m), pitch = cf_mesh_pitch(w->m);
  const cf_range slab = cf_mesh_slab(w->m);
  const int64_t wx = cf_wave(x, n);

  (void)thread;
  for (int64_t y = slab.first; y < slab.first + slab.count; y++) {
    const int64_t wy = cf_wave(y, n), square = wx * wx + wy * wy;
    float *const row = w->delta + (x * slab.count + y - slab.first) * pitch;

    for (int64_t z = 0; z <= n / 2; z++) {
      const float re = row[2 * z], im = row[2 * z + 1];
      const float modulus = w->fixed ? sqrtf(re * re + im * im) : 1;
      const float scale = modulus > 0 ? w->root[square + z * z] / modulus : 0;

      row[2 * z] = scale * re;
      row[2 * z + 1] = scale * im;
    }
  }
}

weir_status cf_field_draw(const cf_mesh *m, const cf_linear *l, double box, uint64_t seed,
                          bool fixed, float *delta)
{
  const int64_t n = cf_mesh_side(m), squares = cf_mesh_squares(n);
  const double sites = (double)n * (double)n * (double)n, volume = box * box * box;
  float *root = NULL;

  const weir_status status = weir_alloc(squares, sizeof *root, (void **)&root);

  WEIR_TRY(cf_mesh_comm(m) != NULL ? weir_comm_agree(cf_mesh_comm(m), status) : status);
  for (int64_t i = 1; i < squares; i++) {
    const double p = cf_linear_power(l, 2 * PI / box * sqrt((double)i));

    /* Coefficients of the noise have the variance 1 / sites. */
    root[i] = (float)sqrt(p / volume * (fixed ? 1 : sites));
  }
  cf_noise(seed, n, cf_mesh_pitch(m), cf_mesh_slab(m).first, cf_mesh_slab(m).count, delta);
  cf_mesh_forward(m, delta);
  colour w = {m, root, fixed, delta};

  weir_parallel(n, 0, colour_plane, &w);
  weir_free(&root);
  return WEIR_OK;
}
