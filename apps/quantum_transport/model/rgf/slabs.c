/* slabs.c - memory of slabs and the separators between them, and how a job goes through both: see
 * slabs.h. */
#include "model/rgf/slabs.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "model/rgf/slabs_priv.h"

/* ---- Memory ---- */

static int ranks_of(const qt_slabs_spec *spec)
{
  return spec->comm != NULL ? weir_comm_size(spec->comm) : spec->n_ranks > 1 ? spec->n_ranks : 1;
}

static int rank_of(const qt_slabs_spec *spec)
{
  return spec->comm != NULL ? weir_comm_rank(spec->comm) : spec->rank;
}

static weir_status agree(const qt_slabs_spec *spec, weir_status status)
{
  return ranks_of(spec) == 1 ? status : weir_comm_agree(spec->comm, status);
}

weir_status qt_slabs_agree(const qt_slabs *s, weir_status status)
{
  return agree(&s->spec, status);
}

int64_t qt_slabs_before(const qt_slabs_spec *spec, int rank)
{
  return spec->n_slabs * rank / ranks_of(spec);
}

static int threads_of(const qt_slabs_spec *spec, int64_t own)
{
  const int allowed = spec->threads > 0 ? spec->threads : weir_threads_get();

  return own < allowed ? (int)own : allowed;
}

/* Elements of what a slab shares, and where they lie from `at` on; none of a slab that is alone. */
static int64_t slab_offsets(const qt_slabs_spec *spec, const int64_t *first, int64_t slab,
                            int64_t at, qt_slab_offsets *offsets)
{
  const qt_layout *l = spec->layout;
  const bool is_first = slab == 0, is_last = slab == spec->n_slabs - 1;
  const int64_t left = qt_rows_of(l, first[slab] - 1);
  const int64_t right = is_last ? 0 : qt_rows_of(l, first[slab + 1] - 1);
  const int64_t begin = at;

  offsets->right = at;
  at += right * right;
  offsets->left = at;
  at += left * left;
  offsets->up = at;
  at += left * right;
  offsets->down = at;
  at += left * right;
  offsets->end = at;
  at += is_first ? qt_rows_of(l, 0) * right : 0;
  at += is_last ? left * qt_rows_of(l, l->n_blocks - 1) : 0;
  offsets->right_lesser = at;
  at += spec->lesser ? right * right : 0;
  offsets->left_lesser = at;
  at += spec->lesser ? left * left : 0;
  offsets->up_lesser = at;
  at += spec->lesser ? left * right : 0;
  return at - begin;
}

static weir_status check_slabs(const qt_slabs_spec *spec)
{
  const int64_t n_blocks = spec->layout->n_blocks;

  if (spec->n_slabs < ranks_of(spec) || spec->n_slabs > n_blocks) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "slabs: %lld slabs of %lld blocks on %d ranks: as many slabs as ranks are "
                     "needed, and as many blocks as slabs",
                     (long long)spec->n_slabs, (long long)n_blocks, ranks_of(spec));
  }
  for (int64_t k = 0; k < spec->n_slabs && spec->first != NULL; k++) {
    if (spec->first[k] >= spec->first[k + 1] || spec->first[0] != 0 ||
        spec->first[spec->n_slabs] != n_blocks) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "slabs: slab %lld has blocks %lld to %lld: slabs have a block each, in "
                       "order, and all %lld together",
                       (long long)k, (long long)spec->first[k], (long long)spec->first[k + 1] - 1,
                       (long long)n_blocks);
    }
  }
  return WEIR_OK;
}

/* The layout of the separators. */
static weir_status make_reduced(qt_slabs *s)
{
  const int64_t separators = s->spec.n_slabs - 1;
  weir_status status = WEIR_OK;
  int64_t *block = NULL;

  if (separators == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(separators + 1, sizeof *block, (void **)&block));
  for (int64_t k = 0; k < separators; k++) {
    block[k + 1] = block[k] + qt_rows_of(s->spec.layout, qt_slab_right(s, k));
  }
  status = qt_layout_create(separators, block, &s->reduced);
  weir_free(&block);
  return status;
}

static weir_status make_memory(qt_slabs *s)
{
  const qt_layout *l = s->spec.layout, *r = &s->reduced;
  const size_t size = sizeof *s->shared;
  const int64_t n_slabs = s->spec.n_slabs, lesser = s->spec.lesser;
  int64_t shared = 0;

  WEIR_TRY(weir_alloc(n_slabs + 1, sizeof *s->first, (void **)&s->first));
  if (s->spec.first != NULL) {
    memcpy(s->first, s->spec.first, (size_t)(n_slabs + 1) * sizeof *s->first);
  } else {
    qt_slabs_split(&s->spec, s->first);
  }
  s->spec.first = s->first;
  WEIR_TRY(make_reduced(s));
  WEIR_TRY(weir_alloc(n_slabs, sizeof *s->offsets, (void **)&s->offsets));
  WEIR_TRY(weir_alloc(n_slabs, sizeof *s->singular, (void **)&s->singular));
  WEIR_TRY(weir_alloc(n_slabs, sizeof *s->growth, (void **)&s->growth));
  for (int64_t k = 0; k < n_slabs; k++) {
    shared += slab_offsets(&s->spec, s->first, k, shared, &s->offsets[k]);
  }
  WEIR_TRY(weir_alloc(shared, size, (void **)&s->shared));
  WEIR_TRY(weir_alloc(r->diagonal_count, size, (void **)&s->start));
  WEIR_TRY(weir_alloc(r->diagonal_count * lesser, size, (void **)&s->start_lesser));
  WEIR_TRY(weir_alloc(r->count, size, (void **)&s->g));
  WEIR_TRY(weir_alloc(r->count * lesser, size, (void **)&s->lesser));
  if (r->n_blocks > 0) {
    const int64_t columns = qt_layout_rows(r, r->n_blocks - 1);

    WEIR_TRY(weir_alloc(qt_layout_rows(r, 0) * columns, size, (void **)&s->corner));
    WEIR_TRY(weir_alloc(qt_layout_rows(l, 0) * columns, size, (void **)&s->row));
  }
  WEIR_TRY(weir_alloc(s->threads, sizeof *s->scratch, (void **)&s->scratch));
  for (int t = 0; t < s->threads; t++) {
    WEIR_TRY(weir_alloc(qt_rgf_scratch(l->max, s->spec.lesser), 1, &s->scratch[t]));
  }
  return WEIR_OK;
}

static weir_status make_allgather(qt_slabs *s)
{
  const int ranks = ranks_of(&s->spec);
  weir_status status = WEIR_OK;
  int64_t *counts = NULL;
  qt_slab_offsets offsets;

  status = weir_alloc(ranks, sizeof *counts, (void **)&counts);
  for (int r = 0; r < ranks && status == WEIR_OK; r++) {
    for (int64_t k = qt_slabs_before(&s->spec, r); k < qt_slabs_before(&s->spec, r + 1); k++) {
      counts[r] += slab_offsets(&s->spec, s->first, k, 0, &offsets);
    }
  }
  WEIR_TRY_GOTO(agree(&s->spec, status), done);
  status = weir_allgather_create(s->spec.comm, "slabs", sizeof *s->shared, s->shared, counts,
                                 &s->allgather);
done:
  weir_free(&counts);
  return status;
}

weir_status qt_slabs_create(const qt_slabs_spec *given, qt_slabs **out)
{
  qt_slabs_spec own = *given;
  const qt_slabs_spec *const spec = &own;
  weir_status status = WEIR_OK;
  qt_slabs *s = NULL;

  *out = NULL;
  own.rank = own.n_ranks = 0;
  own.max_error = own.max_error > 0 ? own.max_error : QT_SLABS_ERROR;
  const int rank = rank_of(spec);

  status = check_slabs(spec);
  if (status == WEIR_OK) {
    status = weir_alloc(1, sizeof *s, (void **)&s);
  }
  if (status == WEIR_OK) {
    s->spec = *spec;
    s->lo = qt_slabs_before(spec, rank);
    s->hi = qt_slabs_before(spec, rank + 1);
    s->threads = threads_of(spec, s->hi - s->lo);
    status = make_memory(s);
  }
  WEIR_TRY_GOTO(agree(spec, status), failed);
  if (ranks_of(spec) > 1) {
    WEIR_TRY_GOTO(make_allgather(s), failed);
    WEIR_TRY_GOTO(qt_slabs_order_create(s), failed);
  }
  *out = s;
  return WEIR_OK;
failed:
  qt_slabs_destroy(&s);
  return status;
}

void qt_slabs_destroy(qt_slabs **slabs)
{
  qt_slabs *s = *slabs;

  if (s == NULL) {
    return;
  }
  qt_slabs_order_destroy(s);
  weir_request_destroy(&s->allgather);
  for (int t = 0; t < s->threads && s->scratch != NULL; t++) {
    weir_free(&s->scratch[t]);
  }
  weir_free(&s->scratch);
  weir_free(&s->row);
  weir_free(&s->corner);
  weir_free(&s->lesser);
  weir_free(&s->g);
  weir_free(&s->start_lesser);
  weir_free(&s->start);
  weir_free(&s->shared);
  weir_free(&s->growth);
  weir_free(&s->singular);
  weir_free(&s->offsets);
  qt_layout_fini(&s->reduced);
  weir_free(&s->first);
  weir_free(slabs);
}

int64_t qt_slabs_bytes(const qt_slabs_spec *spec)
{
  const qt_layout *l = spec->layout;
  const int rank = rank_of(spec);
  const int64_t own = qt_slabs_before(spec, rank + 1) - qt_slabs_before(spec, rank);
  const int64_t lesser = spec->lesser ? 1 : 0, separators = spec->n_slabs - 1;
  const int64_t longs = spec->n_slabs + 1 + (separators > 0 ? 3 * separators + 1 : 0);
  int64_t elements = 0, bytes = (int64_t)sizeof(qt_slabs) + longs * (int64_t)sizeof(int64_t);
  qt_slab_offsets offsets;

  bytes += spec->n_slabs * (int64_t)(sizeof offsets + sizeof(bool) + sizeof(qt_slab_growth));
  bytes += threads_of(spec, own) * ((int64_t)sizeof(void *) + qt_rgf_scratch(l->max, spec->lesser));
  for (int64_t k = 0; k < spec->n_slabs; k++) {
    elements += slab_offsets(spec, spec->first, k, 0, &offsets);
  }
  for (int64_t k = 0; k < separators; k++) {
    const int64_t a = qt_rows_of(l, spec->first[k + 1] - 1);
    const int64_t b = k + 1 < separators ? qt_rows_of(l, spec->first[k + 2] - 1) : 0;

    elements += (2 * a * a + 2 * a * b) * (1 + lesser); /* start; g */
  }
  if (separators > 0) {
    const int64_t columns = qt_rows_of(l, spec->first[separators] - 1);

    elements += (qt_rows_of(l, spec->first[1] - 1) + qt_rows_of(l, 0)) * columns;
  }
  if (ranks_of(spec) > 1) {
    const int64_t lo = qt_slabs_before(spec, rank), hi = qt_slabs_before(spec, rank + 1);
    const int64_t before = lo > 0 ? qt_rows_of(l, spec->first[lo] - 1) : 0;
    const int64_t after = hi < spec->n_slabs ? qt_rows_of(l, spec->first[hi] - 1) : 0;

    elements += qt_rows_of(l, 0) * (before + after + qt_rows_of(l, l->n_blocks - 1));
    bytes += 2 * (ranks_of(spec) - 1) * (int64_t)sizeof(weir_request *);
  }
  return bytes + elements * (int64_t)sizeof(weir_c128);
}

qt_slabs_range qt_slabs_own(const qt_slabs *s)
{
  return qt_slabs_range_of(&s->spec);
}

qt_slabs_range qt_slabs_range_of(const qt_slabs_spec *spec)
{
  const qt_layout *l = spec->layout;
  const int rank = rank_of(spec);
  const int64_t begin = spec->first[qt_slabs_before(spec, rank)];
  const int64_t end = spec->first[qt_slabs_before(spec, rank + 1)], rows = qt_rows_of(l, end - 1);
  const int64_t from = begin > 0 ? qt_layout_at(l, begin - 1, begin) : 0;

  return (qt_slabs_range){begin, end - begin, from, l->offset[end - 1] + rows * rows - from};
}

int64_t qt_slabs_in_order(const qt_slabs *s)
{
  return s->n_in_order;
}
