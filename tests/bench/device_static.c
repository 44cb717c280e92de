/* device_static.c - what plans of a GPU are, told without one: training steps, a
 * simulation, a query and self-energies, planned for device/emulated, whose kernels have the text
 * of cuda's, and compiled for sm_90. Rows: launches, loads and stores against the bytes of the
 * accesses, registers, multiprocessor threads (occupancy) on an H100 (tests/conform/h100.json), and
 * what runs as calls of libraries or of the host. No time is measured or claimed.
 *
 *   device_static [SUBJECT]
 *   with a part of a subject's name: that alone, and a line for each of its launches and host calls
 *
 * Ends with 77 where this build cannot compile for GPUs. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_log.h"
#include "data/simulation/qg_graph.h"
#include "model/scattering/papers/recipe_plan.h"
#include "queries.h"
#include "simulation.h"
#include "support/device/kernel_text.h"
#include "support/pass/self_energy_node.h"
#include "train_jobs.h"
#include "weir_bench.h"

enum { SKIPPED = 77, PATH = 4096, COSMO_SIDE = 64, CHUNK_SECONDS = 60, FORECASTS = 16 };
static const char architecture[] = "sm_90";

/* Limits of a multiprocessor: registers and shared memory in bytes, of which every block takes
 * `reserved` besides its own. */
typedef struct limits {
  double registers, threads, blocks, shared, reserved, warp;
} limits;

typedef struct compiled {
  const char *file;
  weir_device_usage usage;
} compiled;

/* A plan for a device, and what it was made of. */
typedef struct subject {
  const char *name;
  bool whole; /* nothing of it may be a call of the host */
  weir_exec_cfg exec;
  weir_plan *plan;
  learner net;
  weir_store *store;
  weir_series_keeper keeper;
  compiled *compiled; /* texts of its kernels */
  int64_t n_compiled, compiled_capacity;
} subject;

/* Of all launches of a run. */
typedef struct account {
  int64_t launches, groups, host, library;
  double bytes, access_bytes; /* of generated groups */
  int most_registers;
  int64_t spilled;
  double least_occupancy, occupancy; /* share of threads; the mean weighs bytes */
} account;

/* ---- The described GPU. ---- */

static double property(const char *text, const char *name)
{
  char key[64];

  (void)snprintf(key, sizeof key, "\"%s\":", name);
  const char *at = strstr(text, key);

  if (at == NULL) {
    fprintf(stderr, "device_static: h100.json has no %s\n", name);
    exit(1);
  }
  return strtod(at + strlen(key), NULL);
}

static limits read_limits(void)
{
  char *text = NULL;

  bench_must(
      weir_file_read(WEIR_SOURCE_DIR "/tests/conform/h100.json", 1 << 16, &text, &(int64_t){0}));
  const double reserved = property(text, "reservedSharedMemoryPerBlock");
  const limits l = {.registers = property(text, "maxRegistersPerSM"),
                    .threads = property(text, "maxThreadsPerSM"),
                    .blocks = property(text, "maxCtasPerSM"),
                    .shared = property(text, "maxSharedMemoryPerBlockOptin") + reserved,
                    .reserved = reserved,
                    .warp = property(text, "warpSize")};

  weir_free(&text);
  return l;
}

static double round_up(double n, double unit)
{
  return ceil(n / unit) * unit;
}

/* Share of a multiprocessor's threads that blocks of such a kernel fill: registers are given to a
 * warp in units of 256, shared memory to a block in units of 128 bytes (CUDA C++ Programming Guide,
 * section on multiprocessor level). */
static double occupancy_of(const limits *l, const weir_device_usage *u, int threads)
{
  const double warps = ceil(threads / l->warp);
  const double registers = round_up(u->registers * l->warp, 256) * warps;
  const double shared = round_up((double)u->shared_bytes + l->reserved, 128);
  double blocks = fmin(l->blocks, floor(l->threads / (warps * l->warp)));

  blocks = fmin(blocks, floor(l->registers / registers));
  blocks = fmin(blocks, floor(l->shared / shared));
  return blocks * warps * l->warp / l->threads;
}

/* ---- Accounts. ---- */

/* Compiled once for all launches. */
static weir_device_usage usage_of(subject *s, const weir_launch_report *r)
{
  char path[PATH];
  kernel_text text;
  weir_device_usage u;

  for (int64_t k = 0; k < s->n_compiled; k++) {
    if (strcmp(s->compiled[k].file, r->file) == 0) {
      return s->compiled[k].usage;
    }
  }
  bench_must(
      weir_reserve(&s->compiled, &s->compiled_capacity, s->n_compiled + 1, sizeof *s->compiled));
  (void)snprintf(path, sizeof path, "%s/%s", s->exec.kernel_dir, r->file);
  bench_must(kernel_text_open(path, &text));
  bench_must(weir_device_compile("cuda", architecture, &text.source, &u));
  kernel_text_close(&text);
  s->compiled[s->n_compiled++] = (compiled){r->file, u};
  return u;
}

static void add_launch(subject *s, const limits *l, const weir_launch_report *r, bool lists,
                       account *a)
{
  const weir_device_usage u = usage_of(s, r);
  const double occupancy = occupancy_of(l, &u, r->threads);

  a->launches++;
  a->bytes += (double)r->bytes;
  a->most_registers = u.registers > a->most_registers ? u.registers : a->most_registers;
  a->spilled += u.spill_bytes;
  a->least_occupancy = fmin(a->least_occupancy, occupancy);
  a->occupancy += occupancy * (double)r->bytes;
  if (lists) {
    fprintf(stderr,
            "%8lld blocks of %3d, %10.3f MB, %3d registers, %6lld B shared, %3.0f %%: %s %s\n",
            (long long)r->blocks, r->threads, (double)r->bytes * 1e-6, u.registers,
            (long long)u.shared_bytes, 100 * occupancy, r->file,
            weir_plan_group(s->plan, r->group).members);
  }
}

static account account_of(subject *s, const limits *l, bool lists)
{
  account a = {.least_occupancy = INFINITY, .groups = weir_plan_groups(s->plan)};

  for (int32_t i = 0; i < weir_plan_groups(s->plan); i++) {
    const weir_group_report r = weir_plan_group(s->plan, i);
    const bool library = !r.on_host && strstr(r.kernel, ".library") != NULL;

    a.host += r.on_host;
    a.library += library;
    a.access_bytes += r.on_host || library ? 0 : r.bytes;
    if (lists && (r.on_host || library)) {
      fprintf(stderr, "%s: %s [%s]\n", r.on_host ? "host" : "library", r.members, r.kernel);
    }
  }
  for (int64_t k = 0; k < weir_plan_launches(s->plan); k++) {
    const weir_launch_report r = weir_plan_launch(s->plan, k);

    add_launch(s, l, &r, lists, &a);
  }
  a.occupancy /= a.bytes;
  return a;
}

static void row(const subject *s, const char *what, const char *reference, double theirs,
                double own, const char *unit, int more, double goal)
{
  char work[128];

  (void)snprintf(work, sizeof work, "%s on a GPU: %s", s->name, what);
  bench_row(work, reference, theirs, own, unit, more, goal);
}

/* Goals: registers of half of the threads, without a spill; training steps and simulations run
 * whole on the device. */
static void print(const subject *s, const account *a)
{
  const double half = KERNEL_TEXT_REGISTERS / (KERNEL_TEXT_THREADS / 2.0);

  row(s, "launches", "groups", (double)a->groups, (double)a->launches, "a run", 0, 0);
  row(s, "library calls", "groups", (double)a->groups, (double)a->library, "a run", 1, 0);
  row(s, "groups on the device", "groups", (double)a->groups, (double)(a->groups - a->host),
      "a run", 1, s->whole ? 1 : 0);
  row(s, "loads and stores", "accesses", a->access_bytes * 1e-6, a->bytes * 1e-6, "MB", 0, 0);
  row(s, "most registers", "limit", half,
      a->spilled > 0 ? (double)INFINITY : (double)a->most_registers, "registers a thread", 0, 1);
  row(s, "least occupancy", "limit", 0.5, a->least_occupancy, "share of threads", 1, 1);
  row(s, "mean occupancy by bytes", "limit", 0.5, a->occupancy, "share of threads", 1, 0);
}

/* ---- Subjects. ---- */

static void plan_training(subject *s, learner_job job)
{
  job.exec = &s->exec;
  job.sizes_only = true;
  s->whole = true;
  bench_must(learner_open(&job, &s->net));
  s->plan = s->net.plan;
}

static void plan_unet(subject *s)
{
  weir_unet_opts opts;

  plan_training(s, train_job_unet(&opts));
}

static void plan_cosmoflow(subject *s)
{
  cf_mlperf_opts opts;

  plan_training(s, train_job_cosmoflow(&opts, COSMO_SIDE));
}

static void plan_cosmoflow_bf16(subject *s)
{
  s->exec.precision = WEIR_PRECISION_BF16;
  plan_cosmoflow(s);
}

/* Chunks of a minute. */
static void plan_query(subject *s)
{
  static const char *const value[] = {"x0", "x1"}, *const present[] = {"p0", "p1"};
  static const char *const name[] = {"ecg", "abp"}, *const results[] = {"y0", "y1"};
  static const int64_t rate[] = {QUERY_ECG, QUERY_ABP};
  weir_chunk_bound bounds[4];
  weir_series in[2], out[2];
  weir_graph *g = NULL;

  bench_must(weir_store_create(&s->store));
  bench_must(weir_graph_create(&g));
  for (int i = 0; i < 2; i++) {
    in[i] = weir_series_input(g, value[i], present[i], rate[i], 1);
    bounds[2 * i] = (weir_chunk_bound){value[i], CHUNK_SECONDS * rate[i]};
    bounds[2 * i + 1] = (weir_chunk_bound){present[i], CHUNK_SECONDS * rate[i]};
  }
  const weir_series_use use = {.graph = g,
                               .store = s->store,
                               .step = "step",
                               .in = in,
                               .in_name = name,
                               .n_in = 2,
                               .keeper = &s->keeper};
  const int n = query_end_to_end(&use, out);

  for (int i = 0; i < n; i++) {
    weir_output(g, results[i], out[i].value);
  }
  weir_output(g, "present", out[0].present);
  const weir_plan_opts opts = {
      .exec = &s->exec, .threads = 1, .bounds = bounds, .n_bounds = 4, .sizes_only = true};

  bench_must(weir_plan_create(g, s->store, &opts, &s->plan));
  weir_graph_destroy(&g);
}

/* Ten orbitals, as a transport calculation has: four atoms, each with four neighbours. */
static void plan_self_energy(subject *s)
{
  enum { ATOMS = 4, NEIGHBOURS = 4 };
  static const int64_t extent[SELF_ENERGY_DIMS] = {2, 32,         ATOMS, 10, 10, 2,
                                                   8, NEIGHBOURS, 3,     3,  10, 10};
  int32_t number[ATOMS * NEIGHBOURS];
  weir_graph *g = NULL;

  for (int k = 0; k < ATOMS * NEIGHBOURS; k++) {
    number[k] = (k / NEIGHBOURS + k) % ATOMS;
  }
  const weir_tensor t = weir_tensor_wrap(number, WEIR_I32, 2, (const int64_t[]){ATOMS, NEIGHBOURS});
  const char *folder = s->exec.kernel_dir;

  qt_recipe_configure(&qt_recipe_plans[QT_RECIPE_STAGE_REORDERED], &s->exec);
  s->exec.kernel = "auto"; /* the device's own kernels */
  s->exec.kernel_dir = folder;
  bench_must(weir_graph_create(&g));
  (void)self_energy_add(g, extent, SELF_ENERGY_PRODUCTS, weir_constant(g, &t), "Sigma");
  bench_must(weir_plan_create(
      g, NULL, &(weir_plan_opts){.exec = &s->exec, .threads = 1, .sizes_only = true}, &s->plan));
  weir_graph_destroy(&g);
}

/* A step of a batch of forecasts. */
static void plan_simulation(subject *s)
{
  const wx_qg_params p = simulation_params(WEIR_F32);

  s->whole = true;
  wx_qg *m = NULL;
  weir_graph *g = NULL;

  bench_must(wx_qg_create(&p, &m));
  const int64_t shape[] = {FORECASTS, 1, WX_QG_LAYERS, m->rows, m->columns};

  bench_must(weir_store_create(&s->store));
  bench_must(weir_store_add(s->store, "state", weir_dtype_complex(p.dtype), 5, shape));
  bench_must(weir_graph_create(&g));
  qg_graph_steps(g, m, s->store, 1);
  bench_must(weir_plan_create(g, s->store,
                              &(weir_plan_opts){.exec = &s->exec, .threads = 1, .sizes_only = true},
                              &s->plan));
  weir_graph_destroy(&g);
  wx_qg_destroy(&m);
}

static void close_subject(subject *s)
{
  if (s->net.plan != NULL) {
    learner_close(&s->net);
  } else {
    weir_plan_destroy(&s->plan);
  }
  weir_store_destroy(&s->store);
  weir_series_keeper_fini(&s->keeper);
  weir_free(&s->compiled);
}

static void remove_folder(const char *folder)
{
  DIR *dir = opendir(folder);

  for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    char path[PATH];

    (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    (void)unlink(path);
  }
  if (dir != NULL) {
    (void)closedir(dir);
  }
  (void)rmdir(folder);
}

static void measure(const char *name, void (*plan)(subject *), const limits *l, bool lists)
{
  char folder[] = "/tmp/device_static.XXXXXX";
  subject s = {.name = name};

  if (mkdtemp(folder) == NULL) {
    perror(folder);
    exit(1);
  }
  weir_opts_default(weir_exec_opts, sizeof s.exec, &s.exec);
  s.exec.device = "emulated";
  s.exec.kernel_dir = folder;
  plan(&s);
  const account a = account_of(&s, l, lists);

  print(&s, &a);
  close_subject(&s);
  remove_folder(folder);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*plan)(subject *);
  } subjects[] = {{"U-Net lite 8x64x128 step", plan_unet},
                  {"CosmoFlow 64^3 step", plan_cosmoflow},
                  {"CosmoFlow 64^3 step in bf16", plan_cosmoflow_bf16},
                  {"simulation of 16 forecasts step", plan_simulation},
                  {"end-to-end query a minute", plan_query},
                  {"self-energy of 10 orbitals", plan_self_energy}};

  weir_log_set_level(WEIR_LOG_WARN);
  if (kernel_text_no_compiler(architecture)) {
    fprintf(stderr, "device_static: skipped: %s\n", weir_last_message());
    return SKIPPED;
  }
  const limits l = read_limits();

  for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
    if (argc < 2 || strstr(subjects[k].name, argv[1]) != NULL) {
      measure(subjects[k].name, subjects[k].plan, &l, argc > 1);
    }
  }
  return 0;
}
