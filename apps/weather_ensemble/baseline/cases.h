/* cases.h - what statistical corrections are fitted to: mean and variance of the members of an
 * ensemble, and what came true. */
#ifndef WX_CASES_H
#define WX_CASES_H
#include <stdint.h>

/* rows x columns of cases, a row a date and a column a cell where nothing else is said. A case with
 * anything missing (NaN), infinite or of negative variance does not count. Borrowed. */
typedef struct wx_cases {
  int64_t rows, columns;
  const float *mean, *variance, *truth; /* [rows, columns]                                    */
  const double *weight;                 /* [columns], >= 0, the same in each row; NULL: all 1 */
} wx_cases;

/* Computes mean and variance (members - 1) at n cells of fields [members, n]. Members that are
 * missing at a cell do not count there; NaN without any, variance 0 of one. */
void wx_cases_moments(const float *fields, int64_t members, int64_t n, float *mean,
                      float *variance);
#endif
