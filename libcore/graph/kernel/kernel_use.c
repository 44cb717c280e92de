/* kernel_use.c - kernels on nodes that repeat one over an outer dimension. */
#include "graph/kernel/weir_kernel_use.h"

#include "base/weir_alloc.h"
#include "graph/graph_priv.h"

enum { MAX_ARRAYS = WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS };

/* The node of one slice, alone in a graph of its own. */
typedef struct slice {
  weir_graph *g;                       /* NULL: the node is no such node, and is used as it is */
  int64_t n;                           /* slices */
  int32_t n_arrays, array[MAX_ARRAYS]; /* of the slice's graph: which one of the node's it is */
  int8_t from[MAX_ARRAYS];             /* its dimension that slices count along, -1: none */
} slice;

/* Number in the slice's graph of the node's array, added with its extents where it is new. Fails:
 * WEIR_ERR_UNSUPPORTED (two operands of it that slices count along differently). */
static weir_status add_array(slice *s, const weir_array *whole, int32_t array, int8_t from,
                             int32_t *out)
{
  weir_array_desc desc = whole->desc;

  for (*out = 0; *out < s->n_arrays; ++*out) {
    if (s->array[*out] == array) {
      return s->from[*out] == from ? WEIR_OK : WEIR_ERR_UNSUPPORTED;
    }
  }
  if (from >= 0) {
    desc.rank--;
    memmove(&desc.shape[from], &desc.shape[from + 1],
            (size_t)(desc.rank - from) * sizeof desc.shape[0]);
  }
  WEIR_TRY(weir_graph_push_array(s->g, &desc, WEIR_ARRAY_TEMPORARY, out));
  s->array[*out] = array;
  s->from[*out] = from;
  s->n_arrays++;
  return WEIR_OK;
}

static weir_status fill_slice(slice *s, const weir_graph *g, const weir_node *node)
{
  weir_status status = WEIR_OK;
  int8_t from[MAX_ARRAYS];
  weir_node *one;

  WEIR_TRY(weir_graph_create(&s->g));
  WEIR_TRY(weir_graph_push_node(s->g, &one));
  WEIR_TRY(weir_access_copy(&node->access, &one->access));
  if (!weir_access_take_outer(&one->access, from)) {
    return WEIR_ERR_UNSUPPORTED;
  }
  one->op = node->op;
  one->n_in = node->n_in;
  one->n_out = node->n_out;
  one->derived = node->derived;
  one->derivation = node->derivation;
  one->derivation.outer = false;
  memmove(&one->derivation.dim[0], &node->derivation.dim[1],
          (WEIR_MAX_DIMS - 1) * sizeof node->derivation.dim[0]);
  for (int k = 0; k < node->n_in + node->n_out && status == WEIR_OK; k++) {
    const bool input = k < node->n_in;
    const int32_t array = input ? node->in[k] : node->out[k - node->n_in];

    status = add_array(s, weir_graph_get_array(g, array), array, from[k],
                       input ? &one->in[k] : &one->out[k - node->n_in]);
  }
  return status;
}

/* The slice of the group's one node; s->g is NULL where it has none. Fails: WEIR_ERR_MEMORY. */
static weir_status take_slice(const weir_graph *g, const weir_group *group, slice *s)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);

  *s = (slice){.n = 1};
  if (group->n_nodes != 1 || !node->derivation.outer) {
    return WEIR_OK;
  }
  const weir_status status = fill_slice(s, g, node);

  s->n = node->access.dim[0].hi;
  if (status != WEIR_OK) {
    weir_graph_destroy(&s->g);
  }
  return status == WEIR_ERR_UNSUPPORTED ? WEIR_OK : status;
}

/* The group of it, with the claim of the whole one's. */
static weir_group group_of(const weir_group *whole, int32_t *node)
{
  weir_group one = {.nodes = node, .n_nodes = 1, .n_claims = whole->n_claims};

  *node = 0;
  memcpy(one.claims, whole->claims, sizeof one.claims);
  one.claims[0].node = 0;
  return one;
}

/* Whether the kernel is asked about a slice: those of devices are asked about nodes as they are. */
static bool takes_slices(const weir_kernel *k)
{
  return strcmp(k->device, WEIR_KERNEL_CPU) == 0;
}

double weir_kernel_seconds(const weir_kernel *k, const weir_graph *g, const weir_group *group)
{
  double seconds;
  int32_t node;
  slice s;

  if (!takes_slices(k)) {
    return k->match(g, group);
  }
  if (take_slice(g, group, &s) != WEIR_OK) {
    return -1;
  }
  if (s.g == NULL) {
    return k->match(g, group);
  }
  const weir_group one = group_of(group, &node);

  seconds = k->match(s.g, &one) * (double)s.n;
  weir_graph_destroy(&s.g);
  return seconds;
}

/* A block of the kernel is one of a slice. */
static bool widen_blocks(const slice *s, const weir_node *node, weir_kernel_blocks *blocks)
{
  const int32_t array = blocks->of_input ? node->in[0] : node->out[0];
  const int from = s->from[array], rank = s->g->arrays[array]->desc.rank;

  if (from < 0) {
    return false; /* all slices read one input */
  }
  memmove(&blocks->block_size[from + 1], &blocks->block_size[from],
          (size_t)(rank - from) * sizeof blocks->block_size[0]);
  blocks->block_size[from] = 1;
  return true;
}

double weir_group_seconds(const weir_graph *g, const weir_group *group, const weir_group_rates *r)
{
  const weir_traffic t = weir_group_traffic(g, group, 1, NULL);
  const double memory = (double)(t.read_bytes + t.write_bytes) / r->bandwidth;
  double kernels = 0;

  for (int i = 0; i < group->n_claims && kernels >= 0; i++) {
    int32_t claimed = group->claims[i].node;
    const weir_group alone = {.nodes = &claimed, .n_nodes = 1};
    const double said = weir_kernel_seconds(group->claims[i].kernel, g, &alone);

    kernels = said >= 0 ? kernels + said : -1;
  }
  const double seconds =
      group->n_claims > 0 && kernels >= 0 ? kernels / r->kernels : t.flops / r->flop_rate;

  return (seconds > memory ? seconds : memory) + r->overhead;
}

bool weir_kernel_in_blocks(const weir_kernel *k, const weir_graph *g, const weir_group *group,
                           weir_kernel_blocks *blocks)
{
  int32_t node;
  slice s;

  if (k->blocks == NULL || !takes_slices(k)) {
    return k->blocks != NULL && k->blocks(g, group, blocks);
  }
  if (take_slice(g, group, &s) != WEIR_OK) {
    return false;
  }
  if (s.g == NULL) {
    return k->blocks(g, group, blocks);
  }
  const weir_group one = group_of(group, &node);
  const bool is = k->blocks(s.g, &one, blocks) && widen_blocks(&s, s.g->nodes[0], blocks);

  weir_graph_destroy(&s.g);
  return is;
}

struct weir_kernel_use {
  const weir_kernel *kernel;
  int64_t n;         /* slices */
  bool sliced;       /* n of them, else the node as it is */
  int64_t n_context; /* n where a context knows its workspace, else 1 */
  void **context;
  int n_arrays;
  int32_t array[MAX_ARRAYS];
  int8_t from[MAX_ARRAYS]; /* dimension of the view that slices count along, -1: none */
  int block_from;          /* likewise of the array whose blocks are run */
  int64_t workspace;       /* bytes of one slice */
};

static weir_status prepare(weir_kernel_use *use, const weir_graph *g, const weir_group *group)
{
  const weir_kernel *k = use->kernel;
  void *memory;

  use->n_context = use->sliced && k->set_workspace != NULL ? use->n : 1;
  WEIR_TRY(weir_alloc(use->n_context, sizeof(void *), &memory));
  use->context = memory;
  for (int64_t i = 0; i < use->n_context; i++) {
    WEIR_TRY(k->prepare(g, group, &use->context[i]));
  }
  use->n_arrays = k->arrays(g, group, use->array, MAX_ARRAYS);
  use->workspace = k->workspace != NULL ? (k->workspace(use->context[0]) + 63) & ~(int64_t)63 : 0;
  return WEIR_OK;
}

static weir_status prepare_slices(weir_kernel_use *use, const slice *s, const weir_group *whole)
{
  int32_t node;
  const weir_group one = group_of(whole, &node);
  const weir_node *of = s->g->nodes[0];
  const bool reads = whole->n_claims > 0 && whole->claims[0].blocks.of_input;

  use->n = s->n;
  use->sliced = true;
  WEIR_TRY(prepare(use, s->g, &one));
  use->block_from = s->from[reads ? of->in[0] : of->out[0]];
  for (int i = 0; i < use->n_arrays; i++) {
    use->from[i] = s->from[use->array[i]];
    use->array[i] = s->array[use->array[i]];
  }
  return WEIR_OK;
}

weir_status weir_kernel_use_create(const weir_kernel *k, const weir_graph *g,
                                   const weir_group *group, weir_kernel_use **out)
{
  void *memory;
  slice s;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_kernel_use), &memory));
  weir_kernel_use *use = memory;

  *use = (weir_kernel_use){.kernel = k, .n = 1};
  weir_status status = take_slice(g, group, &s);

  if (status == WEIR_OK) {
    status = s.g != NULL ? prepare_slices(use, &s, group) : prepare(use, g, group);
  }

  weir_graph_destroy(&s.g);
  if (status != WEIR_OK) {
    weir_kernel_use_destroy(&use);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = use;
  return WEIR_OK;
}

void weir_kernel_use_destroy(weir_kernel_use **use)
{
  if (use == NULL || *use == NULL) {
    return;
  }
  for (int64_t i = 0; i < (*use)->n_context && (*use)->context != NULL; i++) {
    if ((*use)->kernel->release != NULL && (*use)->context[i] != NULL) {
      (*use)->kernel->release((*use)->context[i]);
    }
  }
  weir_free(&(*use)->context);
  weir_free(use);
}

int weir_kernel_use_arrays(const weir_kernel_use *use, int32_t *arrays)
{
  memcpy(arrays, use->array, (size_t)use->n_arrays * sizeof *arrays);
  return use->n_arrays;
}

/* Pieces of a stage of one slice. */
static int64_t pieces_of(const weir_kernel_use *use, int stage)
{
  const int64_t one = stage == 0;

  return use->kernel->pieces != NULL ? use->kernel->pieces(use->context[0], stage) : one;
}

int64_t weir_kernel_use_pieces(const weir_kernel_use *use, int stage)
{
  return use->n * pieces_of(use, stage);
}

int64_t weir_kernel_use_workspace(const weir_kernel_use *use)
{
  return use->n * use->workspace;
}

int64_t weir_kernel_use_scratch(const weir_kernel_use *use)
{
  return use->kernel->scratch != NULL ? use->kernel->scratch(use->context[0]) : 0;
}

static void *workspace_of(const weir_kernel_use *use, void *workspace, int64_t number)
{
  return workspace != NULL ? (char *)workspace + number * use->workspace : NULL;
}

weir_status weir_kernel_use_set_workspace(weir_kernel_use *use, void *workspace)
{
  for (int64_t i = 0; i < use->n_context && use->kernel->set_workspace != NULL; i++) {
    WEIR_TRY(use->kernel->set_workspace(use->context[i], workspace_of(use, workspace, i)));
  }
  return WEIR_OK;
}

static weir_box drop_dimension(const weir_box *box, int d)
{
  weir_box one = *box;

  one.rank--;
  memmove(&one.lo[d], &one.lo[d + 1], (size_t)(one.rank - d) * sizeof one.lo[0]);
  memmove(&one.hi[d], &one.hi[d + 1], (size_t)(one.rank - d) * sizeof one.hi[0]);
  return one;
}

/* The view of a slice of the view. */
static weir_view view_of(const weir_view *whole, int d, int64_t number)
{
  weir_view v = *whole;

  if (d < 0) {
    return v;
  }
  v.data =
      (char *)v.data + (number - v.origin[d]) * v.stride[d] * (int64_t)weir_dtype_size(v.dtype);
  v.rank--;
  memmove(&v.origin[d], &v.origin[d + 1], (size_t)(v.rank - d) * sizeof v.origin[0]);
  memmove(&v.stride[d], &v.stride[d + 1], (size_t)(v.rank - d) * sizeof v.stride[0]);
  memmove(&v.extent[d], &v.extent[d + 1], (size_t)(v.rank - d) * sizeof v.extent[0]);
  return v;
}

/* r is of one slice already, but for its views and memory. */
static void run_slice(const weir_kernel_use *use, const weir_kernel_run *r, int64_t number)
{
  weir_view views[MAX_ARRAYS];
  weir_kernel_run one = *r;

  for (int i = 0; i < use->n_arrays; i++) {
    views[i] = view_of(&r->views[i], use->from[i], number);
  }
  one.views = views;
  one.context = use->context[use->n_context > 1 ? number : 0];
  one.workspace = workspace_of(use, r->workspace, number);
  use->kernel->run(&one);
}

void weir_kernel_use_run(const weir_kernel_use *use, const weir_kernel_run *r)
{
  weir_kernel_run one = *r;

  if (!use->sliced) {
    one.context = use->context[0];
    use->kernel->run(&one);
    return;
  }
  one.box = drop_dimension(&r->box, 0);
  if (r->piece >= 0) {
    const int64_t pieces = pieces_of(use, r->stage);

    one.piece = r->piece % pieces;
    run_slice(use, &one, r->piece / pieces);
    return;
  }
  one.block = drop_dimension(&r->block, use->block_from);
  for (int64_t i = r->block.lo[use->block_from]; i < r->block.hi[use->block_from]; i++) {
    run_slice(use, &one, i);
  }
}
