/* ranks.c - the moves of a plan over ranks: requests made once over buffers of the plan, which each
 * run fills and empties. */
#include <string.h>
#include "exec/plan/plan_state.h"
#include "exec/ranks/ranks_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_clock.h"

/* A window on a box of an array: the view's element 0 is element lo of the whole array. */
typedef struct window {
  weir_view view;
  int64_t lo[WEIR_MAX_RANK];
} window;

static window window_of(const weir_view *v, const weir_box *box)
{
  window w = {.view = *v};

  memcpy(w.lo, box->lo, (size_t)box->rank * sizeof w.lo[0]);
  return w;
}

/* Elements of the box, one after the other. */
static window dense(void *data, weir_dtype dtype, const weir_box *box)
{
  window w = {.view = {.data = data, .dtype = dtype, .rank = box->rank}};
  int64_t stride = 1;

  for (int d = box->rank - 1; d >= 0; d--) {
    w.lo[d] = box->lo[d];
    w.view.stride[d] = stride;
    stride *= box->hi[d] - box->lo[d];
  }
  return w;
}

static char *address(const window *w, const int64_t *at)
{
  int64_t here[WEIR_MAX_RANK];

  for (int d = 0; d < w->view.rank; d++) {
    here[d] = at[d] - w->lo[d] + w->view.origin[d];
  }
  return weir_view_at(&w->view, here);
}

/* Copies a box of the whole array, which both windows hold, in pieces that lie together in both. */
static void copy_box(const weir_box *box, const window *from, const window *to)
{
  int64_t run = 1, at[WEIR_MAX_RANK];
  int inner = box->rank;

  if (box->rank > 0 && weir_box_empty(box)) {
    return;
  }
  while (inner > 0 && from->view.stride[inner - 1] == run && to->view.stride[inner - 1] == run) {
    inner--;
    run *= box->hi[inner] - box->lo[inner];
  }
  memcpy(at, box->lo, sizeof at);
  for (int d = inner; d >= 0;) {
    memcpy(address(to, at), address(from, at), (size_t)run * weir_dtype_size(from->view.dtype));
    for (d = inner - 1; d >= 0 && ++at[d] == box->hi[d]; d--) {
      at[d] = box->lo[d];
    }
  }
}

static char *message_at(const weir_comm_op *m, int64_t i, char *buffer)
{
  return buffer + m->messages[i].at * (int64_t)weir_dtype_size(m->dtype);
}

/* Copies messages from the array into the buffer, or back; once what several ranks get. */
static void copy_messages(const weir_comm_op *m, const window *w, char *buffer, bool receive)
{
  int64_t end = 0; /* of what was copied into the buffer */

  for (int64_t i = 0; i < m->n_messages; i++) {
    const weir_comm_op_message *x = &m->messages[i];
    const window packed = dense(message_at(m, i, buffer), m->dtype, &x->box);

    if (x->receive == receive && (receive || x->at >= end)) {
      copy_box(&x->box, receive ? &packed : w, receive ? w : &packed);
      end = x->at + weir_box_volume(&x->box);
    }
  }
}

static weir_status start_request(exec_carrier *c)
{
  c->started = weir_clock();
  WEIR_TRY(weir_request_start(c->request));
  return WEIR_OK;
}

/* What is left to wait for when the result is needed. */
static weir_status wait_for(exec_carrier *c)
{
  const double start = weir_clock();
  bool done = false;

  c->overlap_s += start - c->started;
  WEIR_TRY(weir_request_test(c->request, &done));
  c->ready += done;
  WEIR_TRY(weir_request_wait(c->request));
  c->waited_s += weir_clock() - start;
  c->runs++;
  return WEIR_OK;
}

/* The rank's own box, where it is in the buffer. */
static window own_in_buffer(const weir_comm_op *m, const weir_box *own, char *buffer)
{
  const int64_t at = m->elements - weir_box_volume(own);

  return dense(buffer + at * (int64_t)weir_dtype_size(m->dtype), m->dtype, own);
}

static weir_status start_exchange(weir_comm_op *m, const weir_op_run *run)
{
  exec_carrier *c = m->context;
  const window from = window_of(&run->in[0], &m->from);

  if (m->carries_own) {
    const weir_box own = weir_box_intersect(&m->from, &m->to);
    const window to = own_in_buffer(m, &own, c->buffer);

    copy_box(&own, &from, &to);
  }
  copy_messages(m, &from, c->buffer, false);
  WEIR_TRY(start_request(c));
  return WEIR_OK;
}

static weir_status finish_exchange(weir_comm_op *m, const weir_op_run *run)
{
  exec_carrier *c = m->context;
  const window to = window_of(&run->out[0], &m->to);
  const weir_box own = weir_box_intersect(&m->from, &m->to);
  const window from =
      m->carries_own ? own_in_buffer(m, &own, c->buffer) : window_of(&run->in[1], &m->from);

  copy_box(&own, &from, &to);
  WEIR_TRY(wait_for(c));
  copy_messages(m, &to, c->buffer, true);
  return WEIR_OK;
}

/* Every box is added up in the order of ranks, whoever does it. */
static weir_status finish_reduce_scatter(weir_comm_op *m, const weir_op_run *run)
{
  const weir_reducer *reducer = weir_partition_reducer(m->monoid, m->dtype);
  exec_carrier *c = m->context;
  const window to = window_of(&run->out[0], &m->to);

  WEIR_TRY(wait_for(c));
  for (int k = 0; k < c->n_summands; k++) {
    const exec_summand *x = &c->summand[k];

    if (x->first < k) {
      reducer->merge(c->summand[x->first].data, x->data, weir_box_volume(&x->box));
    }
  }
  for (int k = 0; k < c->n_summands; k++) {
    const exec_summand *x = &c->summand[k];
    const window packed = dense(x->data, m->dtype, &x->box);

    if (x->first == k) {
      copy_box(&x->box, &packed, &to);
    }
  }
  return WEIR_OK;
}

/* Elements of all arrays that are merged, those of one index together: as they are where there is
 * one array, else as doubles. */
static void copy_elements(const weir_comm_op *m, const weir_view *arrays, bool in)
{
  const exec_carrier *c = m->context;
  double *const tuple = (double *)(void *)c->buffer;

  if (m->n == 1 && c->count > 0) {
    const size_t bytes = (size_t)c->count * weir_dtype_size(arrays[0].dtype);

    memcpy(in ? c->buffer : arrays[0].data, in ? arrays[0].data : c->buffer, bytes);
    return;
  }
  for (int o = 0; o < m->n && m->n > 1; o++) {
    for (int64_t i = 0; i < c->count; i++) {
      if (in) {
        tuple[i * m->n + o] = weir_dtype_load_real(arrays[o].dtype, arrays[o].data, i);
      } else {
        weir_dtype_store_real(arrays[o].dtype, arrays[o].data, i, tuple[i * m->n + o]);
      }
    }
  }
}

static weir_status start_merge(weir_comm_op *m, const weir_op_run *run)
{
  copy_elements(m, run->in, true);
  WEIR_TRY(start_request(m->context));
  return WEIR_OK;
}

static weir_status finish_merge(weir_comm_op *m, const weir_op_run *run)
{
  WEIR_TRY(wait_for(m->context));
  copy_elements(m, run->out, false);
  return WEIR_OK;
}

static void add_summand(exec_carrier *c, const weir_box *box, char *data)
{
  int first = 0;

  while (first < c->n_summands && !(weir_box_within(&c->summand[first].box, box) &&
                                    weir_box_within(box, &c->summand[first].box))) {
    first++;
  }
  c->summand[c->n_summands++] = (exec_summand){*box, data, first};
}

/* Lists boxes of a reduce-scatter, in the buffer; this rank's own comes after the messages. */
static weir_status list_summands(const weir_comm_op *m, const weir_box *own, exec_carrier *c)
{
  const int64_t all =
      (m->elements - weir_box_volume(own)) * (int64_t)weir_dtype_size(m->dtype); /* of messages */

  c->own = -1;
  WEIR_TRY(weir_alloc(m->n_messages + 1, sizeof *c->summand, (void **)&c->summand));
  for (int64_t i = 0; i <= m->n_messages; i++) {
    const weir_comm_op_message *x = i < m->n_messages ? &m->messages[i] : NULL;

    if (c->own < 0 && !weir_box_empty(own) && (x == NULL || x->peer > m->rank)) {
      c->own = c->n_summands;
      add_summand(c, own, c->buffer + all);
    }
    if (x != NULL && x->receive) {
      add_summand(c, &x->box, message_at(m, i, c->buffer));
    }
  }
  return WEIR_OK;
}

/* Creates an exchange or a reduce-scatter. */
static weir_status make_exchange(exec_ranks *s, weir_comm_op *m, exec_carrier *c)
{
  const size_t size = weir_dtype_size(m->dtype);
  const bool sums = m->kind == WEIR_COMM_OP_REDUCE_SCATTER;
  const weir_box own = weir_box_intersect(&m->from, &m->to);
  weir_transfer *list = NULL;
  weir_status status = weir_alloc(m->n_messages, sizeof *list, (void **)&list);

  for (int64_t i = 0; i < m->n_messages && status == WEIR_OK; i++) {
    const int64_t n = weir_box_volume(&m->messages[i].box);

    list[i] = (weir_transfer){m->messages[i].peer,
                              m->messages[i].receive,
                              {message_at(m, i, c->buffer), size, 1, {n}, {1}}};
  }
  status = status == WEIR_OK && sums ? list_summands(m, &own, c) : status;
  status = weir_comm_agree(s->comm, status);
  if (status == WEIR_OK) {
    status = weir_exchange_create(s->comm, m->name, list, m->n_messages, &c->request);
  }
  weir_free(&list);
  m->start = start_exchange;
  m->finish = sums ? finish_reduce_scatter : finish_exchange;
  return status;
}

/* The group of ranks that differ in these dimensions of the grid. Collective. */
static weir_status find_group(exec_ranks *s, unsigned dims, weir_comm **out)
{
  if (s->group[dims] == NULL) {
    WEIR_TRY(weir_grid_sub(weir_partition_grid(s->partition), s->comm, dims, &s->group[dims]));
  }
  *out = s->group[dims];
  return WEIR_OK;
}

static weir_status make_merge(exec_ranks *s, weir_comm_op *m, exec_carrier *c)
{
  const weir_reducer *reducer = weir_partition_reducer(m->monoid, m->dtype);
  weir_comm *group = NULL;
  weir_status status = WEIR_OK;

  c->count = m->bytes / (int64_t)weir_dtype_size(m->dtype) / m->n;
  if (reducer == NULL) {
    status =
        weir_fail(WEIR_ERR_UNSUPPORTED, "plan: partial results of '%s' cannot be reduced", m->name);
  }
  WEIR_TRY(weir_comm_agree(s->comm, status));
  WEIR_TRY(find_group(s, m->dims, &group));
  /* Ranks of one group agree in there; the other groups would wait for them at the next move. */
  status = weir_allreduce_create_in(group, m->name, reducer, c->buffer, c->count,
                                    c->buffer + c->count * (int64_t)reducer->size, &c->request);
  WEIR_TRY(weir_comm_agree(s->comm, status));
  m->start = start_merge;
  m->finish = finish_merge;
  return WEIR_OK;
}

/* A number of what the nodes read, from 0 to 2^62. */
static int64_t digest(const weir_graph *g)
{
  uint64_t d = 1;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int k = 0; k < node->n_in && !node->dead; k++) {
      d = d * UINT64_C(6364136223846793005) + (uint64_t)node->in[k] + 1;
    }
  }
  return (int64_t)(d >> 2);
}

/* The simplified graph, and one in which maxima and their argmax are read where a kernel of this
 * processor takes them. What fails here fails on this rank alone. */
static weir_status prepare(exec_ranks *s, const weir_graph *g, const weir_pass_opts *opts,
                           weir_graph **sparse)
{
  WEIR_TRY(weir_graph_status(g));
  WEIR_TRY(weir_grid_check(&s->grid, weir_comm_size(s->comm)));
  WEIR_TRY(weir_graph_copy(g, &s->whole));
  WEIR_TRY(weir_pass_run(s->whole, "simplify", opts));
  WEIR_TRY(weir_graph_copy(s->whole, sparse));
  WEIR_TRY(weir_pass_run(*sparse, "pool_sparsity", opts));
  return WEIR_OK;
}

/* Uses the graph with sparse gradients of max-pooling, which moves fewer bytes; processors of
 * several kinds, which would choose differently, do not. Takes the graph. Collective. */
static weir_status agree_on_sparsity(exec_ranks *s, weir_graph **sparse)
{
  int64_t bounds[2] = {digest(*sparse)}; /* least, and greatest as what is below 0 */
  weir_request *r = NULL;

  bounds[1] = -bounds[0];
  WEIR_TRY(weir_allreduce_create(s->comm, "choice of max-pool sparsity",
                                 weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64), bounds, 2, &r));
  WEIR_TRY(weir_request_run_once(&r));
  if (bounds[0] == -bounds[1]) {
    weir_graph_destroy(&s->whole);
    s->whole = *sparse;
    *sparse = NULL;
  }
  return WEIR_OK;
}

/* The rank's graph; what fails here fails on this rank alone. */
static weir_status lower_to_rank(exec_ranks *s, const weir_dist *dist)
{
  WEIR_TRY(weir_partition_fetch_again(s->whole, dist->shards, dist->n_shards));
  WEIR_TRY(weir_partition_create(s->whole, &s->grid, dist->shards, dist->n_shards, &s->partition));
  WEIR_TRY(weir_spmd_lower(s->partition, weir_comm_rank(s->comm), &s->local));
  WEIR_TRY(weir_alloc(s->local.n, sizeof *s->carriers, (void **)&s->carriers));
  return WEIR_OK;
}

static weir_status connect(exec_ranks *s)
{
  for (int32_t i = 0; i < s->local.n; i++) {
    weir_comm_op *m = s->local.moves[i];

    WEIR_TRY(m->kind == WEIR_COMM_OP_ALLREDUCE ? make_merge(s, m, &s->carriers[i])
                                               : make_exchange(s, m, &s->carriers[i]));
  }
  return WEIR_OK;
}

/* Requests for a plan that is run while it is made: over buffers of their own. */
static weir_status connect_early(exec_ranks *s)
{
  weir_status status = WEIR_OK;

  for (int32_t i = 0; i < s->local.n && status == WEIR_OK; i++) {
    const weir_comm_op *m = s->local.moves[i];

    status = weir_alloc(m->elements, weir_dtype_size(m->carried), (void **)&s->carriers[i].memory);
    s->carriers[i].buffer = s->carriers[i].memory;
  }
  WEIR_TRY(weir_comm_agree(s->comm, status));
  s->early = true;
  return connect(s);
}

weir_status exec_ranks_open(const weir_graph *g, const weir_dist *dist, const weir_pass_opts *opts,
                            bool verifies, exec_ranks **out)
{
  exec_ranks *s = NULL;
  weir_graph *sparse = NULL;
  weir_status status = weir_alloc(1, sizeof *s, (void **)&s);

  *out = NULL;
  if (status == WEIR_OK) {
    s->comm = dist->comm;
    s->grid = dist->grid;
    status = prepare(s, g, opts, &sparse);
  }
  WEIR_TRY_GOTO(weir_comm_agree(dist->comm, status), failed);
  WEIR_TRY_GOTO(agree_on_sparsity(s, &sparse), failed);
  WEIR_TRY_GOTO(weir_comm_agree(dist->comm, lower_to_rank(s, dist)), failed);
  for (int32_t i = 0; i < s->local.n; i++) {
    s->local.moves[i]->context = &s->carriers[i];
  }
  WEIR_TRY_GOTO(verifies ? connect_early(s) : WEIR_OK, failed);
  weir_graph_destroy(&sparse);
  *out = s;
  return WEIR_OK;
failed:
  weir_graph_destroy(&sparse);
  exec_ranks_close(&s);
  return status;
}

void exec_ranks_bind(const weir_plan *p)
{
  for (int32_t i = 0; p->ranks != NULL && i < weir_graph_nodes(p->g); i++) {
    const weir_comm_op *m = weir_spmd_graph_starts(p->g, i);
    exec_carrier *c = m != NULL ? m->context : NULL;

    if (c != NULL && c->memory == NULL) {
      c->buffer = p->arrays[weir_graph_node(p->g, i)->out[0]].view.data;
    }
  }
}

weir_status exec_ranks_connect(const weir_plan *p)
{
  return p->sizes_only || p->ranks->early ? WEIR_OK : connect(p->ranks);
}

void exec_ranks_close(exec_ranks **out)
{
  exec_ranks *s = *out;

  if (s == NULL) {
    return;
  }
  for (int32_t i = 0; i < s->local.n && s->carriers != NULL; i++) {
    weir_request_destroy(&s->carriers[i].request);
    weir_free(&s->carriers[i].memory);
    weir_free(&s->carriers[i].summand);
  }
  for (int i = 0; i < 1 << WEIR_GRID_DIMS; i++) {
    weir_comm_close(&s->group[i]);
  }
  weir_free(&s->carriers);
  weir_spmd_graph_fini(&s->local);
  weir_partition_destroy(&s->partition);
  weir_graph_destroy(&s->whole);
  weir_free(out);
}

int32_t weir_plan_moves(const weir_plan *p)
{
  return p->ranks != NULL ? p->ranks->local.n : 0;
}

weir_comm_op_report weir_plan_move(const weir_plan *p, int32_t number)
{
  const weir_comm_op *m = p->ranks->local.moves[number];
  const exec_carrier *c = &p->ranks->carriers[number];

  return (weir_comm_op_report){.name = m->name,
                               .merge = m->kind == WEIR_COMM_OP_ALLREDUCE,
                               .bytes = m->bytes,
                               .waited_s = c->waited_s,
                               .overlap_s = c->overlap_s,
                               .ready = c->ready,
                               .runs = c->runs};
}

void exec_ranks_print(const weir_plan *p, FILE *out)
{
  const exec_ranks *s = p->ranks;
  double waited = 0, hidden = 0, bytes = 0;

  fprintf(out, "== ranks\n");
  for (int32_t i = 0; i < s->local.n; i++) {
    const weir_comm_op_report r = weir_plan_move(p, i);
    const weir_comm_op *m = s->local.moves[i];

    waited += r.waited_s;
    bytes += (double)r.bytes * (double)r.runs;
    hidden += (double)r.bytes * (double)r.ready;
    fprintf(out, "%-8s %-24s %12lld bytes",
            m->kind == WEIR_COMM_OP_ALLREDUCE  ? "reduce"
            : m->kind == WEIR_COMM_OP_EXCHANGE ? "exchange"
                                               : "reduce-scatter",
            r.name, (long long)r.bytes);
    if (r.runs > 0) {
      fprintf(out,
              ", exposed wait %.3g s per run, overlapped compute %.3g s, complete on arrival in "
              "%lld of %lld",
              r.waited_s / (double)r.runs, r.overlap_s / (double)r.runs, (long long)r.ready,
              (long long)r.runs);
    }
    for (int64_t k = 0, n = 0; k < m->n_messages; k++) {
      if (!m->messages[k].receive) {
        fprintf(out, "%s%d", n++ == 0 ? ", to " : " ", m->messages[k].peer);
      }
    }
    fprintf(out, "\n");
  }
  fprintf(out, "exposed wait in total: %.3g s; %.4g of %.4g bytes complete on arrival\n", waited,
          hidden, bytes);
  weir_spmd_graph_print(&s->local, out);
}

/* Array of that name as an input, a stored array or a result, -1: none. */
static int32_t find_named(const weir_graph *g, const char *name)
{
  int32_t found = -1;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    const bool source = array->name != NULL && strcmp(array->name, name) == 0;

    if (source || (found < 0 && array->output != NULL && strcmp(array->output, name) == 0)) {
      found = a;
    }
    if (source) {
      return a;
    }
  }
  return found;
}

weir_box weir_plan_owned(const weir_plan *p, const char *name)
{
  const weir_graph *g = p->ranks != NULL ? p->ranks->whole : p->g;
  const int32_t array = find_named(g, name);
  weir_box box = {.rank = -1};

  if (array < 0) {
    return box;
  }
  if (p->ranks != NULL) {
    return weir_partition_owned(p->ranks->partition, array, weir_comm_rank(p->ranks->comm));
  }
  const weir_array_desc *d = &weir_graph_get_array(g, array)->desc;

  box.rank = d->rank;
  memcpy(box.hi, d->shape, (size_t)d->rank * sizeof box.hi[0]);
  return box;
}
