/* style_callers.c - public functions that no program calls: there are few, and each is listed. */
#include "style.h"
#include <stdlib.h>
#include <string.h>

/* Public on purpose. A new row needs a reason; a row that has become unnecessary is a finding. */
static const struct known {
  const char *path, *name, *reason;
} known[] = {
    {"libcore/base/weir_alloc.h", "weir_alloc_count",
     "tests make allocations fail and count bytes"},
    {"libcore/base/weir_alloc.h", "weir_alloc_fail_after",
     "tests make allocations fail and count bytes"},
    {"libcore/base/weir_log.h", "weir_log_set_sink", "tests read messages; so can a host program"},
    {"libcore/base/weir_log.h", "weir_span_begin", "times by name"},
    {"libcore/base/weir_log.h", "weir_span_end", "times by name"},
    {"libcore/base/weir_log.h", "weir_span_reset", "times by name"},
    {"libcore/base/weir_log.h", "weir_span_table", "times by name"},
    {"libcore/base/weir_signal.h", "weir_stop_request", "a stop without a signal"},
    {"libcore/conf/weir_rundir.h", "weir_run_dir_begin",
     "what weir_run_dir_start does for a run that is not resumed"},
    {"libcore/device/weir_device.h", "weir_device_row_get", "conformance loops over the rows"},
    {"libcore/device/weir_device.h", "weir_device_event_sync",
     "counterpart of weir_device_queue_sync"},
    {"libcore/device/weir_device.h", "weir_device_call", "counterpart of weir_device_launch"},
    {"libcore/device/weir_device.h", "weir_device_compile", "code for GPUs is checked without one"},
    {"libcore/device/weir_library.h", "weir_library_plan",
     "libraries of GPUs are checked without one"},
    {"libcore/device/weir_device.h", "weir_device_measure", "workflows/gpu.sh prints it"},
    {"libcore/tensor/weir_tensor.h", "weir_tensor_slice", "views, which copies take"},
    {"libcore/io/weir_annotation.h", "weir_annotations_write",
     "counterpart of weir_annotations_read"},
    {"libcore/io/weir_grib.h", "weir_grib_available", "as each optional format has it"},
    {"libcore/io/weir_grib.h", "weir_grib_commit", "ends what weir_grib_create begins"},
    {"libcore/io/weir_grib.h", "weir_grib_damaged", "what skip_damaged has skipped"},
    {"apps/physio_stream/api/calls.h", "ps_call_compare", "the Python package calls it"},
    {"apps/physio_stream/api/calls.h", "ps_call_detect", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_crps", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_crps_normal", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_distribution", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_emos_fit", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_energy_score", "the Python package calls it"},
    {"apps/weather_ensemble/api/calls.h", "wx_call_variogram_score", "the Python package calls it"},
    {"libcore/io/weir_wannier.h", "weir_wannier_read_win", "files that do not share a seed name"},
    {"libcore/io/weir_wannier.h", "weir_wannier_read_centres",
     "files that do not share a seed name"},
    {"libcore/report/weir_report.h", "weir_report_destroy",
     "counterpart of weir_report_open for a page that is given up"},
    {"libcore/load/weir_load.h", "weir_load_start", "samples one by one, without batches"},
    {"libcore/load/weir_load.h", "weir_load_next", "samples one by one, without batches"},
    {"libcore/load/weir_load.h", "weir_load_release", "samples one by one, without batches"},
    {"libcore/load/weir_load.h", "weir_load_counted", "figures of a loader"},
    {"libcore/load/weir_sampler.h", "weir_access_stream_position",
     "counterpart of weir_access_stream_sample"},
    {"libcore/ops/eigen_general/weir_eigen_general.h", "weir_eigen_general_at",
     "a program with a graph of its own"},
    {"libcore/ops/eigen_hermitian/weir_eigen_hermitian.h", "weir_eigen_hermitian_at",
     "a program with a graph of its own"},
    {"libcore/ops/inverse/weir_inverse.h", "weir_inverse_at", "a program with a graph of its own"},
    {"libcore/ops/scan/weir_scan.h", "weir_cumsum_at", "a program with a graph of its own"},
    {"libcore/ops/solve/weir_solve.h", "weir_solve_at", "a program with a graph of its own"},
    {"libcore/nn/weir_block.h", "weir_nn_residual_at", "a program with a network of its own"},
    {"libcore/nn/weir_loss.h", "weir_loss_crps_at", "a program that predicts distributions"},
    {"libcore/pass/recompute_blocks/weir_recompute_blocks.h", "weir_blocks_peak",
     "tests check the search with it"},
    {"libcore/optim/weir_rule.h", "weir_rule_add_state", "counterpart of weir_rule_get_state"},
    {"libcore/exec/weir_plan.h", "weir_plan_arena_bound", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_arena_bytes", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_own_bytes", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_microbatches", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_recomputes_elementwise", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_blocks_again", "what a plan takes"},
    {"libcore/exec/weir_plan.h", "weir_plan_owned", "what a plan has on a rank"},
    {"libcore/nn/weir_loss.h", "weir_sigma_at", "the standard deviation that losses take"},
    {"libcore/stream/weir_stream.h", "weir_stream_bind", "streams in memory"},
    {"libcore/stream/op/derivative/weir_stream_derivative.h", "weir_stream_derivative",
     "a program that builds streams without queries: it takes slopes"},
    {"libcore/stream/op/match_shape/weir_stream_match_shape.h", "weir_stream_match_shape",
     "a program that builds streams without queries: it registers a shape that it has in memory"},
    {"libcore/stream/op/normalize/weir_stream_normalize.h", "weir_stream_normalize",
     "a program that builds streams without queries: it standardises what a model reads"},
    {"libcore/stream/op/shift/weir_stream_shift.h", "weir_stream_shift",
     "a program that builds streams without queries: it aligns signals of known delay"},
    {"apps/cosmoflow/data/source.h", "cf_source_made", "tests count universes"},
    {"apps/quantum_transport/model/gradient.h", "qt_gradient_difference",
     "the coupling of electrons to phonons"},
    {"apps/quantum_transport/model/gradient.h", "qt_gradient_complete",
     "the coupling of electrons to phonons"},
    {"apps/weather_ensemble/baseline/emos.h", "wx_emos_crps", "what coefficients are judged by"},
    {"apps/weather_ensemble/data/archive/archive_cube.h", "wx_archive_set_max_open",
     "tests bound the files that are open"},
    {"apps/weather_ensemble/data/simulation/qg.h", "wx_qg_psi", "fields of a state"},
    {"apps/weather_ensemble/data/simulation/qg.h", "wx_qg_q", "fields of a state"},
    {"apps/weather_ensemble/data/simulation/qg_fields.h", "wx_qg_quantities",
     "how many wx_qg_quantity has"},
    {"apps/weather_ensemble/eval/score/efi.h", "wx_efi", "the integral that weights stand for"},
};

/* A function that a public header declares. */
struct function {
  const style_token *name;
  const style_file *header, *source; /* source: the file of its body that was read last */
  int callers;
  struct function *of; /* of a macro of the header: what it calls */
};

static int by_name(const void *a, const void *b)
{
  const style_token *x = ((const struct function *)a)->name,
                    *y = ((const struct function *)b)->name;
  const int shorter = x->length < y->length ? x->length : y->length;
  const int order = memcmp(x->at, y->at, (size_t)shorter);

  return order != 0 ? order : x->length - y->length;
}

static bool is_public(const style_file *f)
{
  const char *base = style_base(f->path);
  const bool header = style_ends(base, ".h") && !style_ends(base, "_priv.h");

  return header && (style_starts(f->path, "apps/") ||
                    (style_starts(f->path, "libcore/") && style_starts(base, "weir_")));
}

bool style_can_mean(const char *target, const char *path)
{
  const size_t n = strlen(path), m = strlen(target);

  return style_ends(path, target) && (n == m || path[n - m - 1] == '/');
}

static void mark_included(const style_tree *t, const style_file *f, bool *used)
{
  for (int i = 0; i < f->n_includes; i++) {
    for (int k = 0; k < t->n_files; k++) {
      used[k] = used[k] || style_can_mean(f->includes[i].target, t->files[k].path);
    }
  }
}

void style_mark_programs(const style_tree *t, bool *used)
{
  bool *read = calloc((size_t)t->n_files + 1, sizeof *read), more = true;

  if (!read) {
    exit(1);
  }

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    used[i] = style_ends(f->path, ".c") && !style_is_test(f) && !strstr(f->path, "/check/");
  }
  while (more) {
    more = false;
    for (int i = 0; i < t->n_files; i++) {
      if (used[i] && !read[i]) {
        read[i] = more = true;
        mark_included(t, &t->files[i], used);
      }
    }
  }
  free(read);
}

/* What the headers of programs declare, sorted by name; the caller frees it. */
static struct function *declared(const style_tree *t, const bool *used, int *n)
{
  struct function *list = NULL;

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];

    for (int k = 0; used[i] && is_public(f) && k < f->n_statements; k++) {
      if (f->statements[k].open < 0 && style_is_function(f, &f->statements[k])) {
        list = style_grow(list, *n, sizeof *list);
        list[(*n)++] =
            (struct function){.name = &f->tokens[f->statements[k].parens - 1], .header = f};
      }
    }
  }
  if (*n > 0) {
    qsort(list, (size_t)*n, sizeof *list, by_name);
  }
  return list;
}

static struct function *find(struct function *list, int n, const style_token *name)
{
  const struct function key = {.name = name};

  return n > 0 ? bsearch(&key, list, (size_t)n, sizeof *list, by_name) : NULL;
}

/* The name of a macro whose definition the token is in, or NULL. */
static const style_token *macro_of(const style_file *f, int token)
{
  for (int i = token; i > 1 && f->tokens[i].directive; i--) {
    if (style_is(&f->tokens[i - 1], "define")) {
      return &f->tokens[i];
    }
  }
  return NULL;
}

/* Macros by which headers call functions that they declare, sorted by name; the caller frees them.
 */
static struct function *find_macros(struct function *list, int n, int *n_macros)
{
  struct function *macros = NULL;

  for (int i = 0; i < n; i++) {
    const style_file *f = list[i].header;

    for (int k = 0; k < f->n_tokens; k++) {
      const style_token *word = &f->tokens[k];
      const bool called =
          word->directive && by_name(&list[i], &(struct function){.name = word}) == 0;
      const style_token *name = called ? macro_of(f, k) : NULL;

      if (name != NULL && name != word) {
        macros = style_grow(macros, *n_macros, sizeof *macros);
        macros[(*n_macros)++] = (struct function){.name = name, .header = f, .of = &list[i]};
      }
    }
  }
  if (*n_macros > 0) {
    qsort(macros, (size_t)*n_macros, sizeof *macros, by_name);
  }
  return macros;
}

/* Counts the words of one file that name a function and do not declare it. What a source of libcore
 * calls of itself needs no public header; headers of applications serve their tests, too. A macro
 * of the header that declares a function is no caller, but who uses the macro is. */
static void count_callers(const style_file *f, struct function *list, int n,
                          struct function *macros, int n_macros)
{
  const bool counts_own = !style_starts(f->path, "libcore/") || style_ends(f->path, ".h");

  for (int i = 0; i < f->n_statements; i++) {
    const style_statement *s = &f->statements[i];
    struct function *x = s->parens > 0 ? find(list, n, &f->tokens[s->parens - 1]) : NULL;

    if (x && s->open >= 0 && !counts_own) {
      x->source = f;
    } else if (x) {
      x->callers--; /* the loop below counts the declaration */
    }
  }
  for (int i = 0; i < f->n_tokens; i++) {
    const bool word = f->tokens[i].kind == STYLE_WORD;
    struct function *x = word ? find(list, n, &f->tokens[i]) : NULL;

    const struct function *macro = word ? find(macros, n_macros, &f->tokens[i]) : NULL;

    if (macro && f->tokens[i].at != macro->name->at) {
      macro->of->callers++;
    }
    if (x && x->source != f && !(x->header == f && f->tokens[i].directive)) {
      x->callers++;
    }
  }
}

static bool is_meant(const struct known *row, const struct function *x)
{
  return strcmp(row->path, x->header->path) == 0 && style_is(x->name, row->name);
}

static void judge(style_report *r, const struct function *list, int n, bool *needed)
{
  for (int i = 0; i < n; i++) {
    const struct function *x = &list[i];
    bool meant = x->callers > 0;

    for (size_t k = 0; k < sizeof known / sizeof known[0] && x->callers == 0; k++) {
      if (is_meant(&known[k], x)) {
        needed[k] = meant = true;
      }
    }
    r->uncalled += x->callers == 0;
    if (!meant) {
      style_find(r, x->header, x->name->line, "only tests call %.*s, or nobody", x->name->length,
                 x->name->at);
    }
  }
}

void style_callers(const style_tree *t, style_report *r)
{
  bool *marks = calloc((size_t)t->n_files + sizeof known / sizeof known[0], 1);
  bool *const used = marks, *const needed = marks + t->n_files;
  int n = 0, n_macros = 0;

  if (!marks) {
    exit(1);
  }
  style_mark_programs(t, used);
  struct function *list = declared(t, used, &n), *macros = find_macros(list, n, &n_macros);
  for (int i = 0; i < t->n_files; i++) {
    if (used[i] && t->files[i].is_c) {
      count_callers(&t->files[i], list, n, macros, n_macros);
    }
  }
  judge(r, list, n, needed);
  for (int i = 0; i < t->n_files; i++) {
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
      if (!needed[k] && strcmp(t->files[i].path, known[k].path) == 0) {
        style_find(r, &t->files[i], 1, "%s need not be in the list of %s", known[k].name, __FILE__);
      }
    }
  }
  free(macros);
  free(list);
  free(marks);
}
