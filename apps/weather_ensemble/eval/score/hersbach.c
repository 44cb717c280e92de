/* hersbach.c - see hersbach.h. Equations are those of the paper. */
#include "eval/score/hersbach.h"
#include <math.h>

void wx_hersbach_take(wx_hersbach *h, const double *x, double y, double weight)
{
  const int64_t m = h->m;

  h->weight += weight;
  for (int64_t i = 1; i < m; i++) { /* eq. 26 */
    const double lo = x[i - 1], hi = x[i], at = fmin(fmax(y, lo), hi);

    h->alpha[i] += weight * (at - lo);
    h->beta[i] += weight * (hi - at);
  }
  if (y < x[0]) { /* eq. 27 */
    h->beta[0] += weight * (x[0] - y);
    h->below += weight;
  } else if (y > x[m - 1]) {
    h->alpha[m] += weight * (y - x[m - 1]);
    h->above += weight;
  }
}

/* Width and observed frequency of bin i, eqs. 30 to 33. */
static void bin(const wx_hersbach *h, int64_t i, double *g, double *o)
{
  const double w = h->weight, alpha = h->alpha[i] / w, beta = h->beta[i] / w;

  if (i == 0) {
    *o = h->below / w;
    *g = *o > 0 ? beta / *o : 0;
  } else if (i == h->m) {
    *o = 1 - h->above / w;
    *g = h->above > 0 ? alpha / (h->above / w) : 0;
  } else {
    *g = alpha + beta;
    *o = *g > 0 ? beta / *g : 0;
  }
}

wx_hersbach_decomposition wx_hersbach_get(const wx_hersbach *h)
{
  wx_hersbach_decomposition p = {.crps = 0};

  if (!(h->weight > 0)) {
    return (wx_hersbach_decomposition){NAN, NAN, NAN};
  }
  for (int64_t i = 0; i <= h->m; i++) {
    const double nominal = (double)i / (double)h->m;
    double g, o;

    bin(h, i, &g, &o);
    p.crps +=
        (h->alpha[i] * nominal * nominal + h->beta[i] * (1 - nominal) * (1 - nominal)) / h->weight;
    p.reliability += g * (o - nominal) * (o - nominal); /* eq. 36 */
    p.potential += g * o * (1 - o);                     /* eq. 37 */
  }
  return p;
}
