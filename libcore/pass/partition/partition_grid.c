/* partition_grid.c - coordinates in the grid -> pieces of dimensions. Where dimensions of an array
 * share one of the grid, it is split into factors, ranks keeping their numbers: each dimension is
 * then sharded over dimensions of the grid that are its own, and its piece is the number of a
 * position in these. */
#include "pass/partition/partition_priv.h"

int partition_pieces(const weir_partition *p, unsigned over)
{
  int n = 1;

  for (int d = 0; d < p->grid.dims; d++) {
    n *= (over >> d & 1) != 0 ? p->grid.extent[d] : 1;
  }
  return n;
}

int partition_piece(const weir_partition *p, unsigned over, const int coords[WEIR_GRID_DIMS])
{
  int q = 0;

  for (int d = 0; d < p->grid.dims; d++) {
    q = (over >> d & 1) != 0 ? q * p->grid.extent[d] + coords[d] : q;
  }
  return q;
}

/* Two shardings of one array along the same dimensions of the grid. */
static bool share(const weir_shard *a, const weir_shard *b)
{
  return a->array == b->array && a->dim >= 0 && b->dim >= 0 &&
         (a->also | 1u << a->along) == (b->also | 1u << b->along);
}

/* Along dimension d of the caller's grid, coordinates that differ by less than `low` or by
 * multiples of `high` have the same piece. low == high: it is not sharded along it. */
typedef struct factor {
  int64_t low, high;
} factor;

/* Factors of a sharding with pieces along dimension d; false: by no factor of its extent. */
static bool factor_of(const weir_grid *grid, const weir_shard *shards, int n, int i, int d,
                      factor *out)
{
  int64_t low = 1, high = 1, below = 1;

  for (int k = n - 1; k >= i; k--) {
    low = share(&shards[k], &shards[i]) ? high : low;
    high *= share(&shards[k], &shards[i]) ? shards[k].pieces : 1;
  }
  for (int k = d + 1; k < grid->dims; k++) {
    below *= weir_shard_goes(&shards[i], k) ? grid->extent[k] : 1;
  }
  const int64_t above = below * grid->extent[d];

  low = low > below ? low : below;
  high = high < above ? high : above;
  *out = (factor){1, 1};
  if (low >= high) {
    return true;
  }
  *out = (factor){low / below, high / below};
  return low % below == 0 && high % low == 0 && above % high == 0;
}

/* The product of the pieces of all that share positions with shard i is the number of positions. */
static weir_status check_pieces(const weir_grid *grid, const weir_shard *shards, int n, int i)
{
  int64_t product = 1, positions = 1;
  bool good = true;

  for (int d = 0; d < grid->dims; d++) {
    positions *= weir_shard_goes(&shards[i], d) ? grid->extent[d] : 1;
  }
  for (int k = 0; k < n && good; k++) {
    if (share(&shards[k], &shards[i])) {
      good = shards[k].pieces > 0 && shards[k].pieces <= positions;
      product *= good ? shards[k].pieces : 1;
      good = good && product <= positions;
    }
  }
  return good && product == positions
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "partition: dimensions of array %d share %lld ranks of the grid: each needs its "
                   "number of pieces, and their product must equal this number of ranks",
                   (int)shards[i].array, (long long)positions);
}

/* Strides along the dimensions of the caller's grid at which factors begin, ascending from 1. */
typedef struct splits {
  int64_t at[WEIR_GRID_DIMS][WEIR_GRID_DIMS + 1];
  int n[WEIR_GRID_DIMS];
} splits;

/* False where there are too many, or one is no multiple of another. */
static bool insert(splits *s, int d, int64_t stride)
{
  int64_t *at = s->at[d];
  int k = s->n[d];

  while (at[k - 1] > stride) {
    k--;
  }
  if (at[k - 1] == stride) {
    return true;
  }
  if (s->n[d] > WEIR_GRID_DIMS || stride % at[k - 1] != 0 || (k < s->n[d] && at[k] % stride != 0)) {
    return false;
  }
  for (int i = s->n[d]++; i > k; i--) {
    at[i] = at[i - 1];
  }
  at[k] = stride;
  return true;
}

static weir_status split_for(const weir_grid *grid, const weir_shard *shards, int n, int i,
                             splits *s)
{
  WEIR_TRY(check_pieces(grid, shards, n, i));
  for (int d = 0; d < grid->dims; d++) {
    factor f = {1, 1};

    if (!weir_shard_goes(&shards[i], d)) {
      continue;
    }
    if (!factor_of(grid, shards, n, i, d, &f) || !insert(s, d, f.low) ||
        (f.high < grid->extent[d] && !insert(s, d, f.high))) {
      return weir_fail(
          WEIR_ERR_UNSUPPORTED,
          "partition: the %d pieces of dimension %d of array %d and those of other shardings do "
          "not split the %d ranks along dimension %d of the grid into common factors",
          shards[i].pieces, shards[i].dim, (int)shards[i].array, grid->extent[d], d);
    }
  }
  return WEIR_OK;
}

weir_status partition_split_grid(weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                                 int n)
{
  splits s = {.n = {0}};
  int dims = 0;

  for (int d = 0; d < grid->dims; d++) {
    s.at[d][s.n[d]++] = 1;
  }
  for (int i = 0; i < n; i++) {
    if (shards[i].dim >= 0 && shards[i].pieces != 0) {
      WEIR_TRY(split_for(grid, shards, n, i, &s));
    }
  }
  for (int d = 0; d < grid->dims; d++) {
    p->first[d] = dims;
    dims += s.n[d];
    if (dims > WEIR_GRID_DIMS - (grid->dims - 1 - d)) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "partition: the pieces split the grid into more than %d dimensions",
                       WEIR_GRID_DIMS);
    }
    for (int k = s.n[d] - 1; k >= 0; k--) {
      const int64_t above = k + 1 < s.n[d] ? s.at[d][k + 1] : grid->extent[d];

      p->grid.extent[dims - 1 - k] = (int)(above / s.at[d][k]);
    }
  }
  p->grid.dims = p->first[grid->dims] = dims;
  return WEIR_OK;
}

unsigned partition_dims(const weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                        int n, int i)
{
  unsigned over = 0;

  for (int d = 0; d < grid->dims; d++) {
    int64_t stride = 1;
    factor f = {1, (int64_t)grid->extent[d] + 1}; /* all of them, those of one rank too */

    if (!weir_shard_goes(&shards[i], d)) {
      continue;
    }
    if (shards[i].pieces != 0) {
      (void)factor_of(grid, shards, n, i, d, &f);
    }
    for (int k = p->first[d + 1] - 1; k >= p->first[d]; k--) {
      over |= stride >= f.low && stride < f.high ? 1u << k : 0;
      stride *= p->grid.extent[k];
    }
  }
  return over;
}
