/* modes.c - self-energies from all Bloch modes of a lead (bloch_modes.h). With
 *   B = A0 + i (W W^H + Z Z^H),
 * which is regular unless a state decouples, follows
 *   u = B^-1 ((i Z - lambda W) p + (i lambda W - Z) q)
 * and, Z^H and W^H applied, a generalised eigenproblem of 2 r for (p, q) (Groth et al., New J.
 * Phys. 16, 063065 (2014), section 4). */
#include <string.h>

#include "graph/weir_complex_scalar.h"
#include "model/lead/bloch_modes.h"
#include "ops/linear/weir_linear.h"

static weir_c128 times_i(weir_c128 z)
{
  return (weir_c128){-z.im, z.re};
}

/* m0 x = lambda m1 x of x = (p, q). False where B is singular. */
static bool make_pencil(const lead_blocks *b, lead_bloch_modes *m)
{
  const int64_t n = m->n, r = m->r, both = 2 * r;
  weir_c128 *s = m->vector; /* [W Z]^H B^-1 [W Z] */

  for (int64_t i = 0; i < n; i++) {
    memcpy(m->f + i * both, m->w + i * n, (size_t)r * sizeof *m->f);
    memcpy(m->f + i * both + r, m->z + i * n, (size_t)r * sizeof *m->f);
  }
  memcpy(m->g, m->f, (size_t)(n * both) * sizeof *m->g);
  const weir_linear_factor f = {m->f, both, false}, turned = {m->f, both, true};

  weir_linear_multiply(n, n, both, 1, f, turned, 0, m->a, n);
  for (int64_t i = 0; i < n * n; i++) {
    m->a[i] = weir_add_c128(b->a0[i], times_i(m->a[i]));
  }
  if (!weir_linear_solve(n, both, m->a, m->g, m->work)) {
    return false;
  }
  weir_linear_multiply(both, both, n, 1, turned, (weir_linear_factor){m->g, both, false}, 0, s,
                       both);
  for (int64_t i = 0; i < r; i++) {
    for (int64_t j = 0; j < r; j++) {
      const weir_c128 ww = s[i * both + j], wz = s[i * both + r + j];
      const weir_c128 zw = s[(r + i) * both + j], zz = s[(r + i) * both + r + j];
      const weir_c128 one = {i == j, 0};
      weir_c128 *upper = m->m0 + i * both + j, *lower = upper + r * both;

      upper[0] = weir_sub_c128(one, times_i(zz));
      upper[r] = zz;
      lower[0] = times_i(wz);
      lower[r] = weir_neg_c128(wz);
      upper = m->m1 + i * both + j;
      lower = upper + r * both;
      upper[0] = weir_neg_c128(zw);
      upper[r] = times_i(zw);
      lower[0] = ww;
      lower[r] = weir_sub_c128(one, times_i(ww));
    }
  }
  return true;
}

double lead_modes_work(int64_t n, int64_t r)
{
  const double size = (double)n, both = 2 * (double)r;
  const double pencil = size * size * both + lead_solve_work(size, both) + both * both * size;

  return r == 0 ? 0 : lead_bloch_modes_work(n, r) + pencil + lead_pair_work(both);
}

weir_status lead_modes(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming, lead_outcome *out)
{
  lead_bloch_modes m = {.n = 0};
  weir_status status = WEIR_OK;

  *out = (lead_outcome){.found = false};
  WEIR_TRY_GOTO(lead_bloch_modes_create(c, b, &m), done);
  m.count = 2 * m.r;
  out->work = lead_modes_work(m.n, m.r);
  if (m.r > 0 && make_pencil(b, &m) &&
      weir_linear_pair(2 * m.r, m.m0, m.m1, m.alpha, m.beta, m.vector, m.work)) {
    WEIR_TRY_GOTO(lead_bloch_modes_sort(o, &m, &out->n_modes, &out->found), done);
    WEIR_TRY_GOTO(lead_bloch_modes_incoming(o, &m, incoming), done);
    out->found = out->found && lead_bloch_modes_sigma(&m, QT_LEFT, sigma[QT_LEFT]) &&
                 lead_bloch_modes_sigma(&m, QT_RIGHT, sigma[QT_RIGHT]);
  }
done:
  lead_bloch_modes_fini(&m);
  return status;
}
