/* slab_in_order.c - the recursion goes through slabs one after another, from rank to rank, where a
 * slab that is cut off from the others is singular: see slabs.h. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/rgf/slabs_priv.h"

/* ---- Messages between a rank and the next one ---- */

/* Rank `before` and the next one, at the last separator of the former: forward what the recursion
 * carries, or back G and G^<. */
static weir_status make_pass(qt_slabs *s, int before, bool back, weir_request **out)
{
  enum { PARTS = 3 };
  const int rank = weir_comm_rank(s->spec.comm);
  const int64_t k = qt_slabs_before(&s->spec, before + 1) - 1;
  const int64_t rows = qt_layout_rows(&s->reduced, k), at = s->reduced.diagonal[k];
  const int64_t size = (int64_t)sizeof *s->shared, offset = s->reduced.offset[k];
  const bool meets = rank == before || rank == before + 1, receives = (rank == before) == back;
  const int peer = rank == before ? before + 1 : before;
  const int64_t bytes = rows * rows * size;
  weir_message list[PARTS];
  int64_t n = 0;

  list[n++] = (weir_message){peer, receives, back ? s->g + offset : s->start + at, bytes};
  if (s->spec.lesser) {
    list[n++] =
        (weir_message){peer, receives, back ? s->lesser + offset : s->start_lesser + at, bytes};
  }
  if (!back) {
    list[n++] = (weir_message){peer, receives, rank == before ? s->row_after : s->row_before,
                               qt_rows_of(s->spec.layout, 0) * rows * size};
  }
  return weir_messages_create(s->spec.comm, "slabs in order", list, meets ? n : 0, out);
}

/* Memory, and then what others must learn of. */
static weir_status make_memory(qt_slabs *s)
{
  const qt_layout *l = s->spec.layout;
  const int64_t rows = qt_rows_of(l, 0);
  const int64_t before = s->lo > 0 ? qt_layout_rows(&s->reduced, s->lo - 1) : 0;
  const int64_t after = s->hi < s->spec.n_slabs ? qt_layout_rows(&s->reduced, s->hi - 1) : 0;
  const int passes = 2 * (weir_comm_size(s->spec.comm) - 1);

  WEIR_TRY(weir_alloc(rows * before, sizeof *s->row_before, (void **)&s->row_before));
  WEIR_TRY(weir_alloc(rows * after, sizeof *s->row_after, (void **)&s->row_after));
  WEIR_TRY(weir_alloc(rows * qt_rows_of(l, l->n_blocks - 1), sizeof *s->end, (void **)&s->end));
  return weir_alloc(passes, sizeof(weir_request *), (void **)&s->pass);
}

weir_status qt_slabs_order_create(qt_slabs *s)
{
  const int ranks = weir_comm_size(s->spec.comm);
  int64_t *counts = NULL;
  weir_status status = make_memory(s);

  if (status == WEIR_OK) {
    status = weir_alloc(ranks, sizeof *counts, (void **)&counts);
  }
  WEIR_TRY_GOTO(weir_comm_agree(s->spec.comm, status), done);
  for (int b = 0; b < ranks - 1 && status == WEIR_OK; b++) {
    status = make_pass(s, b, false, &s->pass[2 * b]);
    if (status == WEIR_OK) {
      status = make_pass(s, b, true, &s->pass[2 * b + 1]);
    }
  }
  WEIR_TRY_GOTO(weir_comm_agree(s->spec.comm, status), done);
  counts[ranks - 1] =
      qt_rows_of(s->spec.layout, 0) * qt_rows_of(s->spec.layout, s->spec.layout->n_blocks - 1);
  status = weir_allgather_create(s->spec.comm, "corner of slabs", sizeof *s->end, s->end, counts,
                                 &s->share_end);
done:
  weir_free(&counts);
  return status;
}

void qt_slabs_order_destroy(qt_slabs *s)
{
  const int passes = s->pass == NULL ? 0 : 2 * (weir_comm_size(s->spec.comm) - 1);

  for (int i = 0; i < passes; i++) {
    weir_request_destroy(&s->pass[i]);
  }
  weir_request_destroy(&s->share_end);
  weir_free(&s->pass);
  weir_free(&s->row_before);
  weir_free(&s->row_after);
  weir_free(&s->end);
}

/* ---- The recursion ---- */

static void copy(int64_t count, const weir_c128 *from, weir_c128 *to)
{
  memcpy(to, from, (size_t)count * sizeof *to);
}

/* The blocks of this rank: the recursion goes from block `from` to the one before `to`. */
typedef struct way {
  int64_t from, to;
  int64_t before, after; /* separators towards the ranks next to this one; NO_BLOCK: none */
} way;

static way way_of(const qt_slabs *s)
{
  const bool starts = s->lo == 0, ends = s->hi == s->spec.n_slabs;

  return (way){starts ? 0 : qt_slab_left(s, s->lo),
               ends ? s->spec.layout->n_blocks : qt_slab_right(s, s->hi - 1),
               starts ? NO_BLOCK : s->lo - 1, ends ? NO_BLOCK : s->hi - 1};
}

/* Begins with what the rank before this one hands over; false where one before it failed. */
static bool take_start(const qt_slabs_run *r, const way *w, qt_rgf_space *space)
{
  const qt_slabs *s = r->s;
  const int64_t rows = qt_layout_rows(&s->reduced, w->before), at = s->reduced.diagonal[w->before];

  copy(rows * rows, s->start + at, space->factors);
  copy(qt_rows_of(s->spec.layout, 0) * rows, s->row_before, space->row);
  space->outside = w->from;
  space->outside_g = s->g + s->reduced.offset[w->before];
  if (r->job->sigma.read != NULL) {
    copy(rows * rows, s->start_lesser + at, space->s);
    space->outside_lesser = s->lesser + s->reduced.offset[w->before];
  }
  return !isnan(space->factors[0].re);
}

/* Ends with what the rank after this one begins with; NaN where the recursion failed. False where
 * the separator itself begins with NaN. */
static bool give_start(const qt_slabs_run *r, const way *w, bool regular, qt_rgf_space *space)
{
  const qt_slabs *s = r->s;
  const int64_t rows = qt_layout_rows(&s->reduced, w->after), at = s->reduced.diagonal[w->after];

  if (!regular) {
    for (int64_t i = 0; i < rows * rows; i++) {
      s->start[at + i] = (weir_c128){NAN, NAN};
    }
    return false;
  }
  qt_rgf_load(r->job, w->to, space);
  copy(rows * rows, space->factors, s->start + at);
  if (r->job->sigma.read != NULL) {
    copy(rows * rows, space->s, s->start_lesser + at);
  }
  if (r->job->corner != NULL && w->to > 0) {
    copy(qt_rows_of(s->spec.layout, 0) * rows, space->row, s->row_after);
  }
  return !isnan(space->factors[0].re);
}

/* Goes through the blocks of this rank; false with *block where it cannot. */
static bool go_forward(const qt_slabs_run *r, const way *w, int64_t *block, qt_rgf_space *space)
{
  const qt_rgf_job *job = r->job;
  const qt_layout *l = r->s->spec.layout;

  for (int64_t n = w->from; n < w->to; n++) {
    const int64_t m = n + 1 < l->n_blocks ? n + 1 : NO_BLOCK;

    if (n != space->outside) {
      qt_rgf_load(job, n, space);
    }
    if (!(job->g.data != NULL ? qt_rgf_forward(job, n, m, space)
                              : qt_rgf_eliminate(job, n, m, false, NULL, 0, space))) {
      *block = n;
      return false;
    }
    if (job->corner != NULL) {
      qt_rgf_extend_row(l, n, m, qt_rows_of(l, 0), space, job->corner);
    }
  }
  return true;
}

static void go_back(const qt_slabs_run *r, const way *w, qt_rgf_space *space)
{
  const int64_t last = r->s->spec.layout->n_blocks - 1, rows = qt_rows_of(r->s->spec.layout, last);

  if (w->after != NO_BLOCK) {
    qt_slab_begin_back(r, w->after, space);
  } else {
    copy(rows * rows, space->stack, space->last);
    if (r->job->sigma.read != NULL) {
      copy(rows * rows, space->gl, space->l_last);
    }
  }
  qt_rgf_store_last(r->job, w->after != NO_BLOCK ? w->to : last, space);
  for (int64_t n = w->to - (w->after != NO_BLOCK ? 1 : 2); n >= w->from; n--) {
    qt_rgf_go_back(r->job, n, n + 1, space);
  }
}

/* The corner, which the last rank has, for all. */
static weir_status share_corner(const qt_slabs_run *r)
{
  qt_slabs *s = r->s;
  const qt_layout *l = s->spec.layout;
  const int64_t count = qt_rows_of(l, 0) * qt_rows_of(l, l->n_blocks - 1);

  if (s->hi == s->spec.n_slabs) {
    copy(count, r->job->corner, s->end);
  }
  WEIR_TRY(qt_slabs_wait(s, s->share_end));
  copy(count, s->end, r->job->corner);
  return WEIR_OK;
}

weir_status qt_slabs_solve_in_order(const qt_slabs_run *r)
{
  qt_slabs *s = r->s;
  const way w = way_of(s);
  const int rank = s->spec.comm == NULL ? 0 : weir_comm_rank(s->spec.comm);
  weir_status status = WEIR_OK;
  int64_t block = 0;
  qt_rgf_space space = qt_slab_space(r, 0);
  bool begins = true, regular;

  if (w.before != NO_BLOCK) {
    WEIR_TRY(qt_slabs_wait(s, s->pass[2 * rank - 2]));
    begins = take_start(r, &w, &space);
  }
  regular = begins && go_forward(r, &w, &block, &space);

  if (w.after != NO_BLOCK) {
    if (regular) {
      block = w.to;
    }
    regular = give_start(r, &w, regular, &space);
    WEIR_TRY(qt_slabs_wait(s, s->pass[2 * rank]));
  }
  if (begins && !regular) { /* else the rank that failed says so */
    status = weir_fail(WEIR_ERR_NUMERIC,
                       "the Green's function of the device is singular at block %lld: the part of "
                       "it as far as that block has a state of that energy; shift the energy",
                       (long long)block);
  }
  WEIR_TRY(qt_slabs_agree(s, status));
  if (r->job->g.data != NULL) {
    if (w.after != NO_BLOCK) {
      WEIR_TRY(qt_slabs_wait(s, s->pass[2 * rank + 1]));
    }
    go_back(r, &w, &space);
    if (w.before != NO_BLOCK) {
      WEIR_TRY(qt_slabs_wait(s, s->pass[2 * rank - 1]));
    }
  }
  return r->job->corner != NULL && s->share_end != NULL ? share_corner(r) : WEIR_OK;
}
