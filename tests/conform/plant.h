/* plant.h - accesses that are wrong by one: every operand, every dimension, and what of the index
 * can be wrong: the offset, each coefficient, the divisor. */
#ifndef WEIR_CONFORM_PLANT_H
#define WEIR_CONFORM_PLANT_H
#include "batch.h"

/* Errors of one operator. */
typedef struct plant_count {
  int64_t planted;
  int64_t same;    /* each iteration touches the same elements, results have the same bits */
  int64_t refused; /* weir_access_check refuses the access                                 */
  int64_t claims;  /* the claims about one iteration are not what it touches               */
  int64_t values;  /* the results are others                                               */
  int64_t missed;  /* none of these: printed                                               */
} plant_count;

/* How many claims of an access about a box are not what the case touches there. */
typedef int (*plant_check)(const batch_case *k, const weir_access *claims, const weir_box *box);

/* Plants all errors in the case, one at a time. The inputs of the case are others then. */
void plant_all(batch_case *k, plant_check check, plant_count *count);

#endif
