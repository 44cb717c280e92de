/* census.h - what the voxels of a sample are like: counts or densities, in the right byte order. */
#ifndef CF_CENSUS_H
#define CF_CENSUS_H
#include "data/volume.h"

enum { CF_CENSUS_BINS = 18 }; /* 0, 1, 2-3, 4-7 ... 2^16 and more, of |value| rounded down */

typedef struct cf_census {
  int64_t n, negative, whole; /* voxels; below 0; integers */
  double sum, least, most;
  double swapped; /* sum of |values| with their two bytes exchanged, of WEIR_I16 */
  int64_t bin[CF_CENSUS_BINS];
} cf_census;

/* Adds n voxels of WEIR_I16 or WEIR_F32 to a census that begins as zeros. */
void cf_census_add(cf_census *c, weir_dtype dtype, const void *voxels, int64_t n);
/* What a person should know: "" where nothing is strange. Borrowed for ever. */
const char *cf_census_remark(const cf_census *c, weir_dtype dtype);
/* "0", "1", "2-3", ... */
void cf_census_bin(int bin, char *text, size_t size);
#endif
