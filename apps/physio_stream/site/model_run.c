/* model_run.c - see model_run.h. */
#include "site/model_run.h"
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_netcdf.h"

enum { MAX_PREDICTION = 64 << 20, MAX_ARGUMENTS = 16, MAX_LIBRARIES = 64 };

/* Where the model sees the query that an ONNX file stands for. */
#define SHOWN_QUERY PS_SANDBOX_DATA "/query.yaml"

/* The run being put together. */
typedef struct run {
  const ps_model_job *job;
  ps_sandbox_bind *binds;
  char **text; /* owns paths of binds */
  int64_t n_binds, n_text, capacity;
  const char *argv[MAX_ARGUMENTS];
  char program[PS_SITE_PATH], records[PS_SITE_PATH], list[PS_SITE_PATH], reader[PS_SITE_PATH];
  char query[PS_SITE_PATH]; /* that an ONNX file stands for, at the site */
} run;

void ps_sandbox_digest(const ps_sandbox_limits *l, const weir_string_list *folders, char hex[65])
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  WEIR_ASSERT(out != NULL);
  fprintf(out, "memory %.17g cpu %.17g wall %.17g output %.17g files %lld processes %lld\n",
          l->memory, l->cpu, l->wall, l->output, (long long)l->files, (long long)l->processes);
  for (int64_t i = 0; i < folders->count; i++) {
    fprintf(out, "%s\n", folders->items[i]);
  }
  fclose(out);
  weir_sha256(text, size, hex);
  free(text);
}

/* ---- What is shown ---- */

static void add_bind(run *r, const char *from, const char *to)
{
  WEIR_ASSERT(r->n_binds < r->capacity);
  r->binds[r->n_binds++] = (ps_sandbox_bind){from, to};
}

/* Makes a path FOLDER/NAME.SUFFIX that lives as long as the run; "" without memory. */
static const char *keep(run *r, const char *folder, const char *name, const char *suffix)
{
  const size_t size = strlen(folder) + strlen(name) + strlen(suffix) + 2;
  char *text = malloc(size);

  WEIR_ASSERT(r->n_text < 2 * r->capacity);
  if (text == NULL) {
    return "";
  }
  (void)snprintf(text, size, "%s%s%s%s", folder, name[0] != 0 ? "/" : "", name, suffix);
  r->text[r->n_text++] = text;
  return text;
}

/* Headers and signals, one by one: the annotations are next to them. */
static weir_status show_records(run *r)
{
  static const char *const suffix[] = {".hea", ".dat"};
  const ps_dataset *d = r->job->dataset;

  for (int64_t i = 0; i < d->n; i++) {
    for (int k = 0; r->job->selected[i] && k < 2; k++) {
      char path[PS_SITE_PATH];

      WEIR_TRY(ps_dataset_path(d, i, suffix[k], path));
      add_bind(r, keep(r, path, "", ""), keep(r, PS_SANDBOX_DATA, d->names[i], suffix[k]));
    }
  }
  add_bind(r, r->list, PS_SANDBOX_DATA "/RECORDS");
  return WEIR_OK;
}

/* A path that says the same to a comparison of text as to the kernel. */
static bool is_clean(const char *path)
{
  return path[0] == '/' && path[strlen(path) - 1] != '/' && strstr(path, "//") == NULL &&
         strstr(path, "/./") == NULL && strstr(path, "..") == NULL &&
         strcmp(path + strlen(path) - 2, "/.") != 0;
}

static weir_status show_folders(run *r)
{
  const weir_string_list *folders = r->job->folders;

  for (int64_t i = 0; i < folders->count; i++) {
    const char *path = folders->items[i];

    if (!is_clean(path) || strncmp(path, "/dev", 4) == 0 || strcmp(path, "/tmp") == 0 ||
        strncmp(path, "/mlcube_io", 10) == 0 || strncmp(path, "/proc", 5) == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "site.folders: %s: give absolute paths of folders with programs and "
                       "libraries, without `//`, `/.` or a last `/`",
                       path);
    }
    if (access(path, F_OK) == 0) {
      add_bind(r, path, path);
    }
  }
  return WEIR_OK;
}

static bool is_shown(const run *r, const char *path)
{
  for (int64_t i = 0; i < r->job->folders->count; i++) {
    const char *folder = r->job->folders->items[i];
    const size_t size = strlen(folder);

    if (strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0)) {
      return true;
    }
  }
  return false;
}

static int show_library(struct dl_phdr_info *info, size_t size, void *context)
{
  run *const r = context;

  (void)size;
  if (info->dlpi_name[0] == '/' && !is_shown(r, info->dlpi_name)) {
    add_bind(r, keep(r, info->dlpi_name, "", ""), keep(r, info->dlpi_name, "", ""));
  }
  return 0;
}

/* This program, its libraries and its reader of NetCDF files (weights of a network), for a query.
 */
static weir_status show_self(run *r)
{
  const ssize_t n = readlink("/proc/self/exe", r->program, sizeof r->program - 1);

  if (n <= 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "/proc/self/exe: %m");
  }
  r->program[n] = 0;
  if (!is_shown(r, r->program)) {
    add_bind(r, r->program, r->program);
  }
  (void)dl_iterate_phdr(show_library, r);
  if (weir_netcdf_available()) {
    WEIR_TRY(weir_netcdf_reader_path(r->reader, sizeof r->reader));
    if (!is_shown(r, r->reader)) {
      add_bind(r, r->reader, r->reader);
    }
  }
  return WEIR_OK;
}

/* ---- What is called ---- */

/* The call of MLCube's runner: the task, then a parameter a path (mlcube/shell.py,
 * generate_mounts_and_args). */
static void call_program(run *r)
{
  const char *const entry = r->job->study->model.tasks.infer.entrypoint;

  (void)snprintf(r->program, sizeof r->program, PS_SANDBOX_MODEL "/%.1024s",
                 strncmp(entry, "./", 2) == 0 ? entry + 2 : entry);
  const char *const argv[] = {r->program, "infer", "--data_path=" PS_SANDBOX_DATA,
                              "--output_path=" PS_SANDBOX_OUT, NULL};

  memcpy(r->argv, argv, sizeof argv);
}

static void call_query(run *r)
{
  const ps_model *const m = &r->job->study->model;

  (void)snprintf(r->records, sizeof r->records, "input.records=[%s/RECORDS]", PS_SANDBOX_DATA);
  /* No engine that compiles code at run time: inside there is no cache, and no /proc to load from.
   */
  const char *const argv[] = {
      r->program, "run",
      "--config", m->weir.kind == PS_MODEL_ONNX ? SHOWN_QUERY : m->weir.query,
      "--set",    r->records,
      "--set",    "exec.tier=vector",
      "--out",    PS_SANDBOX_OUT "/run",
      NULL};

  memcpy(r->argv, argv, sizeof argv);
}

/* ---- What comes back ---- */

static weir_status copy_file(int from, const char *name, const char *to)
{
  struct stat kind;
  char *text = NULL;
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  if (fstat(from, &kind) != 0 || !S_ISREG(kind.st_mode) || kind.st_size > MAX_PREDICTION) {
    return weir_fail(WEIR_ERR_DATA, "%s of the model is no file of at most %d bytes", name,
                     MAX_PREDICTION);
  }
  const size_t size = (size_t)kind.st_size;

  WEIR_TRY(weir_alloc((int64_t)size + 1, 1, (void **)&text));
  WEIR_TRY_GOTO(weir_writer_open(to, &w), done);
  if (pread(from, text, size, 0) != (ssize_t)size) {
    status = weir_fail(WEIR_ERR_DATA, "%s of the model: cannot read: %m", name);
    goto done;
  }
  WEIR_TRY_GOTO(weir_writer_write(w, text, size), done);
  status = weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  weir_free(&text);
  return status;
}

/* Where the model has written the result of a record. */
static void result_name(const ps_study *s, const char *record, char *name, size_t size)
{
  if (s->model.weir.kind != PS_MODEL_PROGRAM) {
    (void)snprintf(name, size, "run/%s/%s.%s", record, record, ps_model_stream(&s->model));
  } else {
    (void)snprintf(name, size, "%s.%s", record, s->benchmark.predictions);
  }
}

/* No link is followed, and nothing above the folder is reached, whatever the model has left. */
static int open_result(int results, const char *name)
{
  const struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
                               .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};

  return (int)syscall(SYS_openat2, results, name, &how, sizeof how);
}

static weir_status collect(const ps_model_job *job, int results)
{
  char folder[PS_SITE_PATH], to[PS_SITE_PATH], name[4 * PS_SITE_NAME], file[2 * PS_SITE_NAME];

  WEIR_TRY(weir_path_join(job->out, "predictions", folder, sizeof folder));
  WEIR_TRY(weir_dir_create(folder));
  for (int64_t i = 0; i < job->dataset->n; i++) {
    if (!job->selected[i]) {
      continue;
    }
    const char *const record = job->dataset->names[i];

    result_name(job->study, record, name, sizeof name);
    const int from = open_result(results, name);

    if (from < 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "the model left no %s in its output folder (%m): it has to write one for "
                       "each record, also an empty one",
                       name);
    }
    (void)snprintf(file, sizeof file, "%s.%s", record, job->study->benchmark.predictions);
    weir_status status = weir_path_join(folder, file, to, sizeof to);

    if (status == WEIR_OK) {
      status = copy_file(from, name, to);
    }
    (void)close(from);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* What the model printed may tell of records: it stays in a file of the site. */
static weir_status keep_log(const ps_model_job *job, const ps_sandbox_result *r)
{
  char path[PS_SITE_PATH];
  weir_writer *w = NULL;

  WEIR_TRY(weir_path_join(job->out, "model.log", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  const weir_status status = weir_writer_write(w, r->log, strlen(r->log));

  if (status != WEIR_OK) {
    weir_writer_destroy(&w);
    return status;
  }
  return weir_writer_commit(&w);
}

/* ---- The run ---- */

/* The file RECORDS with the selected ones, which the model sees as that of the dataset. */
static weir_status write_list(run *r)
{
  const ps_dataset *d = r->job->dataset;
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(r->job->out, "RECORDS", r->list, sizeof r->list));
  WEIR_TRY(weir_writer_open(r->list, &w));
  for (int64_t i = 0; i < d->n; i++) {
    if (r->job->selected[i]) {
      WEIR_TRY_GOTO(weir_writer_printf(w, "%s\n", d->names[i]), fail);
    }
  }
  return weir_writer_commit(&w);
fail:
  weir_writer_destroy(&w);
  return status;
}

/* The file query.yaml, for a model that is an ONNX file. */
static weir_status write_query(run *r)
{
  const ps_model *const m = &r->job->study->model;
  char network[PS_SITE_PATH], *text = NULL;
  size_t size = 0;
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;
  FILE *const out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "site run: no memory for the query of the model");
  }
  (void)snprintf(network, sizeof network, PS_SANDBOX_MODEL "/%.1024s", m->weir.network);
  ps_model_print_query(m, network, out);
  if (fclose(out) != 0) {
    status = weir_fail(WEIR_ERR_MEMORY, "site run: no memory for the query of the model");
    goto done;
  }
  WEIR_TRY_GOTO(weir_path_join(r->job->out, "query.yaml", r->query, sizeof r->query), done);
  WEIR_TRY_GOTO(weir_writer_open(r->query, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, text, size), done);
  status = weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  free(text);
  return status;
}

static weir_status prepare(run *r)
{
  const ps_study *s = r->job->study;

  r->capacity = 2 * r->job->dataset->n + r->job->folders->count + MAX_LIBRARIES + 5;
  WEIR_TRY(weir_alloc(r->capacity, sizeof *r->binds, (void **)&r->binds));
  WEIR_TRY(weir_alloc(2 * r->capacity, sizeof *r->text, (void **)&r->text));
  WEIR_TRY(write_list(r));
  WEIR_TRY(show_folders(r));
  add_bind(r, s->folder, PS_SANDBOX_MODEL);
  WEIR_TRY(show_records(r));
  if (s->model.weir.kind == PS_MODEL_ONNX) {
    WEIR_TRY(write_query(r));
    add_bind(r, r->query, SHOWN_QUERY);
  }
  if (s->model.weir.kind != PS_MODEL_PROGRAM) {
    WEIR_TRY(show_self(r));
    call_query(r);
  } else {
    call_program(r);
  }
  return WEIR_OK;
}

weir_status ps_model_run(const ps_model_job *job)
{
  run r = {.job = job};
  ps_sandbox_result result = {.out = -1};
  char text[256];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(prepare(&r), done);
  const ps_sandbox_job sandbox = {.argv = r.argv,
                                  .folder = PS_SANDBOX_MODEL,
                                  .scratch = job->out,
                                  .binds = r.binds,
                                  .n_binds = r.n_binds,
                                  .limits = job->limits};

  WEIR_TRY_GOTO(ps_sandbox_run(&sandbox, &result), done);
  WEIR_TRY_GOTO(keep_log(job, &result), done);
  ps_sandbox_text(&result, job->limits, text, sizeof text);
  weir_event("model", WEIR_TEXT("ended", text), WEIR_REAL("wall_s", result.wall),
             WEIR_REAL("cpu_s", result.cpu), WEIR_REAL("memory_mib", result.memory));
  if (result.end != PS_SANDBOX_EXIT || result.code != 0) {
    status = weir_fail(WEIR_ERR_DATA,
                       "the model has failed: %s; there is no report. What it printed is in "
                       "%s/model.log, which stays here",
                       text, job->out);
    goto done;
  }
  status = collect(job, result.out);
done:
  ps_sandbox_result_fini(&result);
  for (int64_t i = 0; i < r.n_text; i++) {
    free(r.text[i]);
  }
  weir_free(&r.text);
  weir_free(&r.binds);
  return status;
}
