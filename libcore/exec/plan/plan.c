/* plan.c - from a graph to something that runs: passes, loops, engines, memory. */
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "exec/backend/device/backend.h"
#include "exec/ranks/ranks_priv.h"

#define MAX_THREADS 64

const weir_opt weir_exec_opts[] = {
    WEIR_OPT_ENUM(
        weir_exec_cfg, tier, WEIR_TIER_AUTO, "auto|reference|vector|native",
        "execution of generated groups: reference: scalar reference interpreter; vector: vector "
        "interpreter; native: compiled C; auto: native if a compiler is found, else vector"),
    WEIR_OPT_BOOL(weir_exec_cfg, explain, false,
                  "measure the time of every group, and log it by kernel class at the end of "
                  "a plan"),
    WEIR_OPT_ENUM(weir_exec_cfg, verify, 0, "off|pass",
                  "pass: re-run the reference interpreter on random data after every pass, and "
                  "stop at the first pass that changes a result"),
    WEIR_OPT_BOOL(weir_exec_cfg, fusion, true, "operator fusion; false: every operator is a group"),
    WEIR_OPT_ENUM(weir_exec_cfg, precision, 0, "f32|bf16",
                  "bf16: products of f32 arrays with a faster bf16 kernel run in bf16, and their "
                  "operands are stored in it; sums, statistics, losses and updates stay f32"),
    WEIR_OPT_BOOL(weir_exec_cfg, tf32, false,
                  "libraries of a GPU may round the factors of f32 products to tf32 (10 bits of "
                  "mantissa), which tensor cores multiply; sums stay f32; no effect elsewhere"),
    WEIR_OPT_ENUM(
        weir_exec_cfg, products, WEIR_PRODUCTS_F64, "f64|f32|bf16|f16|f16x2",
        "dtype to which operands of large sums of products (contractions) of f64 and c128 are "
        "rounded (f16x2: sums of two numbers of f16, which takes three products in place of one); "
        "these sums accumulate in f32, all other operations are unchanged"),
    WEIR_OPT_BOOL(weir_exec_cfg, scale_products, true,
                  "for exec.products: scale operands by powers of two into the range of the dtype"),
    WEIR_OPT_ENUM(
        weir_exec_cfg, overlap, 1, "off|auto|on",
        "overlap of communication and computation over ranks: interior points are computed during "
        "the halo exchange, the others after it; auto: where splitting costs less than it hides"),
    WEIR_OPT_ENUM(
        weir_exec_cfg, fission, 0, "off|products|hoist|reassociate",
        "splitting of sums of products of several factors where it reduces flops: products: every "
        "product is a node; hoist: products are also moved out of loops that they do not depend "
        "on; reassociate: also in the order with the fewest flops. Rounding of results changes"),
    WEIR_OPT_BOOL(weir_exec_cfg, window, false,
                  "margins in place of a border for arrays that a sum of products reads at "
                  "offsets, such as E - w, so that matrix-product kernels apply; infinite or NaN "
                  "elements then also reach sums that would have excluded them at the border"),
    WEIR_OPT_ENUM(
        weir_exec_cfg, winograd, WEIR_WINOGRAD_TRUE, "false|f32|true",
        "on a CPU, convolutions with kernel size 3 and stride 1, and their gradients, take "
        "Winograd's F(2, 3) where it is faster: up to 3.4 times fewer products, with "
        "rounding errors relative to the largest neighbouring elements; f32: not those "
        "of bf16 (exec.precision), whose rounding errors are 3.6 times as large with it"),
    WEIR_OPT_STRING(weir_exec_cfg, skip, "",
                    "passes to skip, comma-separated, to locate a faulty one"),
    WEIR_OPT_STRING(
        weir_exec_cfg, kernel, "auto",
        "kernels that may be selected for groups: auto, none, or a name printed by describe"),
    WEIR_OPT_STRING(weir_exec_cfg, compiler, "cc",
                    "C compiler of the native tier: program name or path"),
    WEIR_OPT_PATH(weir_exec_cfg, cache_dir, "",
                  "cache folder of compiled groups; empty: weir/ in the user's cache folder"),
    WEIR_OPT_INT(weir_exec_cfg, cache_bytes, 0, 0, 1099511627776.0, "bytes",
                 "maximum size of the tile-local buffers of a group; 0: a quarter of the L2 cache, "
                 "half of it after a blocked kernel"),
    WEIR_OPT_INT(weir_exec_cfg, memory, 0, 0, 1125899906842624.0, "bytes",
                 "memory budget of the arena of temporaries; larger steps compute element-wise "
                 "results or blocks of layers again for their gradient, or are split into "
                 "micro-batches; 0: no limit"),
    WEIR_OPT_INT(weir_exec_cfg, min_layout_bytes, 32768, 1, 1099511627776.0, "bytes",
                 "minimum size of arrays whose memory layout may differ from their declared order "
                 "of dimensions; smaller ones stay in cache in any layout",
                 .alias = "least_format"),
    WEIR_OPT_REAL(weir_exec_cfg, spin, WEIR_THREADS_SPIN, 0, 0.01, "s",
                  "polling time of an idle thread before it sleeps; 0: no polling"),
    WEIR_OPT_STRING(weir_exec_cfg, device, "cpu",
                    "device of the plan: cpu, or another listed by `--version`; unsupported groups "
                    "run as host calls with copies"),
    WEIR_OPT_BOOL(weir_exec_cfg, capture, true,
                  "record the launches and copies of a run on a device once and replay them as one "
                  "(a CUDA graph), where no host call lies in between"),
    WEIR_OPT_PATH(weir_exec_cfg, kernel_dir, "",
                  "folder to which the text of each kernel generated for `exec.device` is written "
                  "(CUDA C); empty: none"),
    WEIR_OPT_INT(weir_exec_cfg, device_blocks, 512, 1, 2147483647.0, "thread blocks",
                 "minimum number of thread blocks of a launch on `exec.device` whose threads take "
                 "several elements, in vectors of up to 16 bytes: about four per multiprocessor"),
    WEIR_OPT_PATH(
        weir_exec_cfg, machine, "",
        "file of machine constants (keys: docs/reference/machine.md; build/release/bench/peaks "
        "FILE measures bandwidth and flop_rate); missing keys, or empty: detected or built-in "
        "values",
        .alias = "peaks"),
    WEIR_OPT_PATH(weir_exec_cfg, predict, "",
                  "file of constants of another device (keys: docs/reference/machine.md; examples: "
                  "configs/machines): the time of groups is measured as by exec.explain, and "
                  "predicted on that device; empty: none"),
    WEIR_OPT_PATH(weir_exec_cfg, predict_from, "",
                  "file of constants of the device of the run, as for exec.predict; empty: the "
                  "constants of exec.machine and the number of threads"),
    WEIR_OPT_END,
};

static weir_status init_arrays(weir_plan *p)
{
  void *memory = NULL;

  p->n_arrays = weir_graph_arrays(p->g);
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(exec_array), &memory));
  p->arrays = memory;
  WEIR_TRY(weir_alloc((int64_t)p->n_arrays * 5, sizeof(int64_t), &memory));
  p->slots = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(int64_t), &memory));
  p->bounds = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(weir_rate), &memory));
  p->rates = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof(int64_t), &memory));
  p->feeds = memory;
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array_desc *d = &weir_graph_get_array(p->g, a)->desc;

    p->arrays[a].time = d->time - 1;
    p->arrays[a].end = WEIR_UNBOUNDED;
    p->arrays[a].shared = weir_graph_writers(p->g, a, NULL, 0) > 1;
    p->streaming = p->streaming || d->time > 0;
    if (d->time > 0 && d->time != d->rank) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "plan: time must be the last dimension of an array (it is %d of %d)",
                       d->time, d->rank);
    }
  }
  return WEIR_OK;
}

static const char *member_name(const weir_plan *p, int32_t number)
{
  const weir_node *node = weir_graph_node(p->g, number);

  return node->label != NULL ? node->label : node->op->name;
}

/* A node with the label of an earlier member: part of a step that is named already. */
static bool is_named(const weir_plan *p, const weir_group *group, int64_t i)
{
  const char *label = weir_graph_node(p->g, group->nodes[i])->label;

  for (int64_t k = 0; k < i && label != NULL; k++) {
    const char *other = weir_graph_node(p->g, group->nodes[k])->label;

    if (other != NULL && strcmp(other, label) == 0) {
      return true;
    }
  }
  return false;
}

/* Steps by their labels, each once; operators without one by name, neighbours counted: "pair,
 * shift, elementwise x3". */
static void name_members(const weir_plan *p, exec_group *group)
{
  const weir_group *from = weir_graph_group(p->g, group->number);
  size_t used = 0;

  for (int64_t i = 0, end; i < from->n_nodes && used + 4 < sizeof(group->members); i = end) {
    const char *name = member_name(p, from->nodes[i]);
    const bool label = weir_graph_node(p->g, from->nodes[i])->label != NULL;
    char times[32] = "";

    for (end = i + 1; end < from->n_nodes && strcmp(member_name(p, from->nodes[end]), name) == 0;
         end++) {
    }
    if (is_named(p, from, i)) {
      continue;
    }
    if (end - i > 1 && !label) {
      (void)snprintf(times, sizeof times, " x%lld", (long long)(end - i));
    }
    const int n = snprintf(group->members + used, sizeof(group->members) - used, "%s%s%s",
                           used > 0 ? ", " : "", name, times);

    used += n > 0 ? (size_t)n : 0;
    used = used < sizeof(group->members) ? used : sizeof(group->members) - 1;
  }
}

/* The local that loop k (reader or writer) knows as `array`, or -1. */
static int64_t local_of(const exec_group *group, int32_t array)
{
  for (int32_t i = 0; i < group->n_locals; i++) {
    if (group->locals[i].array == array) {
      return i;
    }
  }
  return -1;
}

/* One of several outputs of a node that nothing reads. */
static bool is_unread(const weir_graph *g, int32_t array)
{
  const weir_array *a = weir_graph_get_array(g, array);
  bool update = false;

  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    update = update || weir_graph_get_array(g, i)->update == array;
  }
  return a->kind == WEIR_ARRAY_TEMPORARY && a->output == NULL && !update &&
         weir_graph_readers(g, array, NULL, 0) == 0;
}

/* Of a stream, what nothing reads is local too: a window follows the anchor's slots, of which there
 * may be more than of these. */
static bool is_local(const weir_plan *p, const exec_group *group, int32_t array)
{
  const weir_group *from = weir_graph_group(p->g, group->number);

  return weir_group_is_local(p->g, from, array) ||
         (p->streaming && group->n_loops > 1 && from->n_claims == 0 && !p->arrays[array].shared &&
          is_unread(p->g, array));
}

static weir_status find_locals(const weir_plan *p, exec_group *group)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(group->n_loops * WEIR_MAX_OUTPUTS, sizeof(exec_local), &memory));
  group->locals = memory;
  for (int32_t k = 0; k < group->n_loops; k++) {
    for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
      const int32_t array = group->loops[k].loop->out[o];

      if (is_local(p, group, array)) {
        group->locals[group->n_locals++] =
            (exec_local){.array = array, .writer = k, .last_reader = k};
      }
    }
  }
  if (group->n_locals > EXEC_MAX_LOOPS) { /* run.c keeps a view of each on its stack */
    return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: group '%s' has %d local arrays, more than %d",
                     group->members, group->n_locals, EXEC_MAX_LOOPS);
  }
  for (int32_t k = 0; k < group->n_loops; k++) {
    exec_loop *loop = &group->loops[k];

    for (int i = 0; i < loop->loop->access.n_in; i++) {
      loop->in_local[i] = local_of(group, loop->loop->in[i]);
      if (loop->in_local[i] >= 0) {
        group->locals[loop->in_local[i]].last_reader = k;
      }
    }
    for (int i = 0; i < loop->loop->access.n_in; i++) {
      for (int d = 0; d < loop->loop->access.in[i].rank; d++) {
        const int index = loop->loop->access.in[i].index[d].gather - 1;

        loop->gathers = loop->gathers || index >= 0;
        /* Indices made in a tile are checked there: on the caller's thread, which has the error. */
        group->sequential = group->sequential || (index >= 0 && loop->in_local[index] >= 0);
      }
    }
    for (int o = 0; o < loop->loop->access.n_out; o++) {
      loop->out_local[o] = local_of(group, loop->loop->out[o]);
    }
  }
  return WEIR_OK;
}

static weir_status make_group(weir_plan *p, int32_t number, exec_group *group)
{
  const weir_group *from = weir_graph_group(p->g, number);
  void *memory = NULL;

  group->number = number;
  name_members(p, group);
  (void)weir_group_kernels(from, group->kernel_names, sizeof group->kernel_names);
  memcpy(group->tile, from->tile, sizeof(group->tile));
  WEIR_TRY(weir_lower(p->g, from, &group->lowered, &group->n_loops));
  if (group->n_loops > EXEC_MAX_LOOPS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: group '%s' has %d loops, more than %d",
                     group->members, group->n_loops, EXEC_MAX_LOOPS);
  }
  WEIR_TRY(weir_alloc(group->n_loops, sizeof(exec_loop), &memory));
  group->loops = memory;
  WEIR_TRY(weir_alloc(group->n_loops, sizeof(weir_member), &memory));
  group->member = memory;
  for (int32_t k = 0; k < group->n_loops; k++) {
    const weir_access *a = &group->lowered[k].access;

    group->loops[k].loop = &group->lowered[k];
    group->member[k] = (weir_member){a, group->lowered[k].in, group->lowered[k].out};
    if (group->lowered[k].claimed) {
      group->kernels[group->n_kernels++] =
          (exec_kernel){.claim = weir_group_claim(from, group->lowered[k].node),
                        .loop = k,
                        .all = weir_iterations(a)};
    }
    group->loops[k].time = weir_access_time(a);
    for (int d = 0; d < a->n_dims; d++) {
      group->sequential =
          group->sequential || a->dim[d].kind == WEIR_FORWARD || a->dim[d].kind == WEIR_BACKWARD;
    }
    exec_find_lags(&group->loops[k]);
    /* Whole along what runs backwards: tiles come in ascending order. */
    for (int d = 0; d < a->n_dims; d++) {
      group->tile[d] = a->dim[d].kind == WEIR_BACKWARD ? 0 : group->tile[d];
    }
  }
  group->all = weir_iterations(&group->lowered[group->n_loops - 1].access);
  return find_locals(p, group);
}

static weir_status make_groups(weir_plan *p)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(weir_graph_groups(p->g), sizeof(exec_group), &memory));
  p->groups = memory;
  for (int32_t i = 0; i < weir_graph_groups(p->g); i++) {
    WEIR_TRY(make_group(p, i, &p->groups[i]));
    p->n_groups++;
  }
  return WEIR_OK;
}

/* Groups in the order of the schedule, which memory.c has made. */
static void order_groups(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t j = i; j < p->n_groups; j++) {
      if (p->groups[j].number == p->schedule.order[i] && j != i) {
        const exec_group swap = p->groups[i];

        p->groups[i] = p->groups[j];
        p->groups[j] = swap;
      }
    }
  }
}

static weir_status read_options(weir_plan *p, const weir_plan_opts *opts)
{
  weir_opts_default(weir_exec_opts, sizeof(p->cfg), &p->cfg);
  if (opts->exec != NULL) {
    p->cfg = *opts->exec;
  }
  p->threads = opts->threads > 0 ? opts->threads : weir_threads_get();
  p->threads = p->threads < MAX_THREADS ? p->threads : MAX_THREADS;
  weir_threads_spin_set(p->cfg.spin);
  p->constants = weir_constants_get(p->cfg.device);
  WEIR_TRY(exec_predict_open(p));
  return WEIR_OK;
}

weir_pass_opts weir_exec_passes(const weir_exec_cfg *cfg)
{
  return (weir_pass_opts){.cache_bytes = cfg->cache_bytes,
                          .constants = weir_constants_get(cfg->device),
                          .min_layout_bytes = cfg->min_layout_bytes,
                          .no_fusion = !cfg->fusion,
                          .skip = cfg->skip,
                          .precision = (weir_precision)cfg->precision,
                          .products = (weir_products)cfg->products,
                          .unscaled = !cfg->scale_products,
                          .overlap = (weir_overlap)cfg->overlap,
                          .fission = (weir_fission)cfg->fission,
                          .window = cfg->window,
                          .kernel = cfg->kernel,
                          .plain = cfg->winograd == WEIR_WINOGRAD_FALSE,
                          .plain_half = cfg->winograd == WEIR_WINOGRAD_F32,
                          .kernels = weir_kernel_table,
                          .device = cfg->device};
}

bool weir_exec_has_tiles(const weir_exec_cfg *cfg)
{
  return cfg != NULL && cfg->precision == WEIR_PRECISION_BF16 && weir_cpu_get()->amx &&
         (cfg->device == NULL || strcmp(cfg->device, "cpu") == 0) &&
         (cfg->kernel == NULL || strcmp(cfg->kernel, "auto") == 0);
}

weir_pass_opts exec_pass_opts(const weir_plan *p)
{
  weir_pass_opts opts = weir_exec_passes(&p->cfg);

  opts.microbatches = p->memory.microbatches;
  opts.blocks = &p->memory.choice;
  opts.recompute_elementwise = p->memory.elementwise;
  return opts;
}

weir_status exec_plan_passes(weir_plan *p)
{
  const weir_pass_opts opts = exec_pass_opts(p);

  exec_phase_end(p, "copy");
  WEIR_TRY(weir_passes_run(p->g, &opts, exec_watch, p));
  return WEIR_OK;
}

weir_status exec_plan_finish(weir_plan *p, const weir_plan_opts *opts)
{
  exec_phase_end(p, "budget");
  WEIR_TRY(init_arrays(p));
  WEIR_TRY(make_groups(p));
  exec_phase_end(p, "lower");
  for (int i = 0; i < opts->n_bounds; i++) {
    for (int32_t a = 0; a < p->n_arrays; a++) {
      const weir_array *array = weir_graph_get_array(p->g, a);

      if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, opts->bounds[i].input) == 0) {
        p->bounds[a] = opts->bounds[i].slots;
      }
    }
  }
  WEIR_TRY(exec_backend_claim(p));
  WEIR_TRY(exec_prepare_kernels(p));
  exec_phase_end(p, "kernels");
  WEIR_TRY(exec_early_find(p, opts->early));
  WEIR_TRY(exec_memory_make(p));
  WEIR_TRY(exec_budget_check(p));
  order_groups(p);
  WEIR_TRY(exec_early_divide(p));
  WEIR_TRY(exec_backend_memory(p));
  exec_phase_end(p, "schedule");
  WEIR_TRY(exec_backend_prepare(p));
  if (p->backend != NULL) {
    exec_backend_count(p);
  }
  WEIR_TRY(exec_choose_engine(p));
  exec_phase_end(p, "compile");
  WEIR_TRY(exec_bind_kernels(p));
  WEIR_TRY(exec_tiles_keep(p));
  return WEIR_OK;
}

/* Replaces the whole graph by the rank's local one. */
static weir_status lower_to_rank(weir_plan *p, const weir_dist *dist)
{
  const weir_pass_opts opts = exec_pass_opts(p);

  WEIR_TRY(exec_ranks_open(p->built, dist, &opts, p->cfg.verify != 0, &p->ranks));
  p->built = p->ranks->local.g;
  exec_phase_end(p, "partition");
  return WEIR_OK;
}

static weir_status make(weir_plan *p, const weir_plan_opts *opts)
{
  WEIR_TRY(exec_budget_keep(p));
  WEIR_TRY(exec_plan_finish(p, opts));
  exec_ranks_bind(p);
  WEIR_TRY(exec_summarise(p));
  exec_phase_end(p, "summary");
  return WEIR_OK;
}

/* What passes and schedules have freed goes back to the system before the arena is touched: else it
 * adds to the peak of the process, 12 MiB for a U-Net and more where a budget makes several plans.
 */
static void release_heap(void)
{
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

weir_status weir_plan_create(const weir_graph *g, weir_store *store, const weir_plan_opts *opts,
                             weir_plan **out)
{
  static const weir_plan_opts none;
  weir_status status = WEIR_OK;
  weir_plan *p = NULL;

  *out = NULL;
  opts = opts != NULL ? opts : &none;
  weir_comm *const comm = opts->dist != NULL ? opts->dist->comm : NULL;

  status = weir_graph_status(g);
  if (status == WEIR_OK) {
    status = weir_alloc(1, sizeof(*p), (void **)&p);
  }
  if (status == WEIR_OK) {
    p->store = store;
    p->built = g;
    p->terse = opts->terse;
    p->sizes_only = opts->sizes_only;
    p->unreported = opts->unreported;
    exec_phases_begin(p);
    status = read_options(p, opts);
  }
  if (status == WEIR_OK) {
    status = exec_backend_open(p);
  }
  WEIR_TRY_GOTO(comm != NULL ? weir_comm_agree(comm, status) : status, fail);
  if (comm != NULL) {
    WEIR_TRY_GOTO(lower_to_rank(p, opts->dist), fail);
  }
  status = make(p, opts);
  WEIR_TRY_GOTO(comm != NULL ? weir_comm_agree(comm, status) : status, fail);
  WEIR_TRY_GOTO(comm != NULL ? exec_ranks_connect(p) : WEIR_OK, fail);
  exec_phases_report(p);
  p->built = NULL;
  release_heap();
  *out = p;
  return WEIR_OK;
fail:
  weir_plan_destroy(&p);
  return status;
}

static void free_group(exec_group *group)
{
  for (int32_t k = 0; k < group->n_loops && group->loops != NULL; k++) {
    exec_loop *loop = &group->loops[k];

    if (loop->engine != NULL) {
      loop->engine->release(loop->context);
    }
    weir_free(&loop->cells.cells);
  }
  for (int i = 0; i < group->n_kernels; i++) {
    const weir_kernel *kernel = group->kernels[i].claim->kernel;

    weir_kernel_use_destroy(&group->kernels[i].use);
    if (kernel->release != NULL && group->kernels[i].context != NULL) {
      kernel->release(group->kernels[i].context);
    }
  }
  weir_free(&group->kept_boxes);
  weir_free(&group->kept_locals);
  weir_free(&group->loops);
  weir_free(&group->member);
  weir_free(&group->locals);
  weir_loops_free(&group->lowered, group->n_loops);
}

void weir_plan_destroy(weir_plan **out)
{
  if (out == NULL || *out == NULL) {
    return;
  }
  weir_plan *p = *out;

  exec_times_report(p);
  exec_ranks_close(&p->ranks); /* requests end before the memory of their messages */
  for (int32_t i = 0; p->groups != NULL && i < weir_graph_groups(p->g); i++) {
    free_group(&p->groups[i]);
  }
  for (int32_t a = 0; a < p->n_arrays && p->arrays != NULL; a++) {
    weir_free(&p->arrays[a].aside);
    weir_free(&p->arrays[a].window);
  }
  weir_schedule_fini(&p->schedule);
  weir_blocks_fini(&p->memory.blocks);
  exec_early_free(p);
  weir_free(&p->arrays);
  weir_free(&p->slots);
  weir_free(&p->bounds);
  weir_free(&p->rates);
  weir_free(&p->feeds);
  weir_free(&p->groups);
  weir_free(&p->arena);
  weir_free(&p->scratch);
  weir_free(&p->workspace);
  weir_free(&p->dump);
  weir_free(&p->saved);
  weir_graph_destroy(&p->rounded);
  weir_graph_destroy(&p->g);
  exec_backend_close(p);
  weir_free(out);
}
