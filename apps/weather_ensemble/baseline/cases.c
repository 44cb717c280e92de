/* cases.c - see cases.h. */
#include "baseline/cases.h"
#include <math.h>

void wx_cases_moments(const float *fields, int64_t members, int64_t n, float *mean, float *variance)
{
  for (int64_t i = 0; i < n; i++) {
    double sum = 0, squares = 0;
    int64_t count = 0;

    for (int64_t m = 0; m < members; m++) {
      const double x = (double)fields[m * n + i];

      if (isfinite(x)) {
        sum += x;
        count++;
      }
    }
    const double middle = sum / (double)count; /* NaN of none */

    for (int64_t m = 0; m < members; m++) {
      const double d = (double)fields[m * n + i] - middle;

      squares += isfinite(d) ? d * d : 0;
    }
    mean[i] = (float)middle;
    variance[i] = count == 0 ? NAN : count == 1 ? 0 : (float)(squares / (double)(count - 1));
  }
}
