/* study.c - the benchmark and the descriptor of a model, and their digests. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "site/model.h"

enum { MAX_FILES = 10000, MAX_DEPTH = 16, LINE = PS_SITE_PATH + 80 };

static const weir_opt group_options[] = {
    WEIR_OPT_STRING(ps_group, name, "", "name of the division"),
    WEIR_OPT_STRING_LIST(ps_group, cells, "",
                         "expressions; a record belongs to the first that is true, else to other"),
    WEIR_OPT_END,
};

static const weir_opt benchmark_options[] = {
    WEIR_OPT_STRING(ps_benchmark, name, "", "name of the benchmark"),
    WEIR_OPT_STRING(ps_benchmark, description, "", "what is evaluated, for people"),
    WEIR_OPT_STRING(ps_benchmark, committee, "", "who answers for it"),
    WEIR_OPT_STRING(ps_benchmark, reference, "atr", "suffix of the reference annotations"),
    WEIR_OPT_STRING(ps_benchmark, predictions, "beats", "suffix of what the model writes"),
    WEIR_OPT_REAL(ps_benchmark, start, 300, 0, 1e9, "s", "start of the scored range (EC57: 300)"),
    WEIR_OPT_REAL(ps_benchmark, window, 0.15, 0.001, 1, "s",
                  "maximum distance of matching beats (EC57: 0.15)"),
    WEIR_OPT_REAL(ps_benchmark, fs, 0, 0, 1e6, "1/s",
                  "units of time of annotations that state none; 0: frames of the record"),
    WEIR_OPT_STRING(ps_benchmark, cohort.where, "", "expression that selects records; empty: all"),
    WEIR_OPT_LIST(ps_benchmark, cohort.groups, ps_group, group_options, 16,
                  "divisions of the cohort that are reported separately"),
    WEIR_OPT_INT(ps_benchmark, min_records, 10, PS_MIN_RECORDS, 1e6, "1",
                 "records below which a cell is withheld"),
    WEIR_OPT_REAL(ps_benchmark, max_share, 0.5, 0.001, 1, "1",
                  "share of one record in the reference beats above which a cell is withheld"),
    WEIR_OPT_END,
};

static const weir_opt author_options[] = {
    WEIR_OPT_STRING(ps_author, name, "", "full name"),
    WEIR_OPT_STRING(ps_author, email, "", "address"),
    WEIR_OPT_STRING(ps_author, org, "", "affiliation"),
    WEIR_OPT_END,
};

/* A row whose key is no member path: `default` is a word of C. */
#define PATH_ROW(m, k, def, h)                                                                \
  {                                                                                           \
    .kind = WEIR_OPT_KIND_STRING, .key = (k), .offset = offsetof(ps_model, m), .text = (def), \
    .unit = "", .help = (h)                                                                   \
  }

static const weir_opt model_options[] = {
    WEIR_OPT_STRING(ps_model, name, "", "name of the model"),
    WEIR_OPT_STRING(ps_model, description, "", "what it does, for people"),
    WEIR_OPT_LIST(ps_model, authors, ps_author, author_options, 1000, "who made it"),
    WEIR_OPT_INT(ps_model, platform.accelerator_count, 0, 0, 1000, "1", "accelerators: 0 here"),
    WEIR_OPT_STRING(ps_model, platform.accelerator_maker, "", "not used"),
    WEIR_OPT_STRING(ps_model, platform.accelerator_model, "", "not used"),
    WEIR_OPT_REAL(ps_model, platform.host_memory_gb, 0, 0, 1e9, "GB", "not used: site.limits"),
    WEIR_OPT_REAL(ps_model, platform.host_disk_space_gb, 0, 0, 1e9, "GB", "not used: site.limits"),
    WEIR_OPT_BOOL(ps_model, platform.need_internet_access, false, "network: none here"),
    WEIR_OPT_STRING(ps_model, docker.image, "", "not used"),
    WEIR_OPT_STRING(ps_model, docker.build_context, "", "not used"),
    WEIR_OPT_STRING(ps_model, docker.build_file, "", "not used"),
    WEIR_OPT_STRING(ps_model, docker.gpu_args, "", "not used"),
    WEIR_OPT_STRING(ps_model, docker.cpu_args, "", "not used"),
    WEIR_OPT_STRING(ps_model, singularity.image, "", "not used"),
    WEIR_OPT_STRING(ps_model, tasks.infer.entrypoint, "",
                    "program below the folder of the model, called as: PROGRAM infer "
                    "--data_path=DIR --output_path=DIR"),
    WEIR_OPT_ENUM(ps_model, tasks.infer.parameters.inputs.data_path.type, 0, "directory",
                  "the records are a folder"),
    PATH_ROW(tasks.infer.parameters.inputs.data_path.path,
             "tasks.infer.parameters.inputs.data_path.default", "data", "not used"),
    WEIR_OPT_ENUM(ps_model, tasks.infer.parameters.outputs.output_path.type, 0, "directory",
                  "the results are a folder"),
    PATH_ROW(tasks.infer.parameters.outputs.output_path.path,
             "tasks.infer.parameters.outputs.output_path.default", "predictions", "not used"),
    WEIR_OPT_ENUM(ps_model, weir.kind, PS_MODEL_PROGRAM, "program|query|onnx",
                  "a program, a query that Weir runs, or an ONNX file with the interface below"),
    WEIR_OPT_STRING(ps_model, weir.query, "query.yaml", "query: its configuration"),
    WEIR_OPT_STRING(ps_model, weir.stream, "beats", "query: its output of format annotations"),
    WEIR_OPT_STRING(ps_model, weir.network, "", "onnx: the file below the folder of the model"),
    WEIR_OPT_STRING(ps_model, weir.signal, "",
                    "onnx: signal by name or index; empty: the first in mV, or the only one"),
    WEIR_OPT_STRING(ps_model, weir.unit, "mV", "onnx: unit that the network takes"),
    WEIR_OPT_REAL(ps_model, weir.fs, 0, 0, 1e6, "Hz",
                  "onnx: rate that the network takes; signals are resampled to it"),
    WEIR_OPT_REAL(ps_model, weir.window, 0, 0, 1e6, "s",
                  "onnx: window length; 0: that of the file"),
    WEIR_OPT_REAL(ps_model, weir.hop, 0, 0, 1e6, "s", "onnx: time between windows; 0: the window"),
    WEIR_OPT_ENUM(
        ps_model, weir.gives, PS_GIVES_BEATS, "beats|class",
        "onnx: beats: a score for each sample, whose maxima are beats; class: a score for "
        "each window, of which beats of the detector are kept"),
    WEIR_OPT_ENUM(ps_model, weir.scores, 0, "as_is|sigmoid|softmax",
                  "onnx: function that makes scores of the outputs"),
    WEIR_OPT_STRING_LIST(ps_model, weir.outputs, "",
                         "onnx: names of the numbers of a sample or window; empty: there is one"),
    WEIR_OPT_STRING(ps_model, weir.score, "", "onnx: the one of weir.outputs that decides"),
    WEIR_OPT_REAL(ps_model, weir.threshold, 0.5, -1e9, 1e9, "1", "onnx: lowest score of a beat"),
    WEIR_OPT_END,
};

/* ---- Digest of a folder ---- */

typedef struct file_list {
  char (*line)[LINE]; /* path, below the folder */
  int64_t n, capacity;
} file_list;

static weir_status list_folder(const char *folder, const char *below, int depth, file_list *out);

static weir_status list_entry(const char *folder, const char *path, int depth, file_list *out)
{
  char full[PS_SITE_PATH];
  struct stat kind;

  WEIR_TRY(weir_path_join(folder, path, full, sizeof full));
  if (lstat(full, &kind) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", full);
  }
  if (S_ISDIR(kind.st_mode)) {
    return list_folder(folder, path, depth + 1, out);
  }
  if (!S_ISREG(kind.st_mode)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: a model has files and folders only: a link could lead elsewhere after it "
                     "was approved",
                     full);
  }
  if (out->n >= MAX_FILES) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d files", folder, MAX_FILES);
  }
  WEIR_TRY(weir_reserve(&out->line, &out->capacity, out->n + 1, sizeof *out->line));
  (void)snprintf(out->line[out->n++], LINE, "%s", path);
  return WEIR_OK;
}

static weir_status list_folder(const char *folder, const char *below, int depth, file_list *out)
{
  char full[PS_SITE_PATH], path[PS_SITE_PATH];
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(folder, below, full, sizeof full));
  DIR *entries = depth < MAX_DEPTH ? opendir(full) : NULL;

  if (entries == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot read the folder%s", full,
                     depth < MAX_DEPTH ? "" : ": too many inside each other");
  }
  for (const struct dirent *e = readdir(entries); e != NULL; e = readdir(entries)) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
      continue;
    }
    const int n = snprintf(path, sizeof path, "%s%s%s", below, below[0] != 0 ? "/" : "", e->d_name);

    if (n < 0 || (size_t)n >= sizeof path) {
      status = weir_fail(WEIR_ERR_DATA, "%s: a path is too long", full);
      break;
    }
    WEIR_TRY_GOTO(list_entry(folder, path, depth, out), done);
  }
done:
  (void)closedir(entries);
  return status;
}

static int compare(const void *a, const void *b)
{
  return strcmp(a, b);
}

weir_status ps_folder_digest(const char *folder, char hex[65])
{
  file_list list = {0};
  char path[PS_SITE_PATH], one[65], *text = NULL;
  size_t size = 0;
  int64_t bytes = 0;
  weir_status status = WEIR_OK;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: no memory for its digest", folder);
  }
  WEIR_TRY_GOTO(list_folder(folder, "", 0, &list), done);
  qsort(list.line, (size_t)list.n, sizeof *list.line, compare);
  for (int64_t i = 0; i < list.n; i++) {
    WEIR_TRY_GOTO(weir_path_join(folder, list.line[i], path, sizeof path), done);
    if (!weir_file_sha256(path, one, &bytes)) {
      status = weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", path);
      goto done;
    }
    fprintf(out, "%s  %s\n", one, list.line[i]);
  }
  fflush(out);
  weir_sha256(text, size, hex);
done:
  fclose(out);
  free(text);
  weir_free(&list.line);
  return status;
}

/* ---- Reading ---- */

static bool is_suffix(const char *text)
{
  const size_t size = strlen(text);

  return size > 0 && size < 32 &&
         strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == size;
}

/* Names stand in reports and on terminals: quotes and line ends would end them, and controls hide
 * what a person approves. */
static bool is_plain(const char *text, size_t size)
{
  for (const char *c = text; *c != 0; c++) {
    if (*c == '"' || *c == '\\' || iscntrl((unsigned char)*c)) {
      return false;
    }
  }
  return text[0] != 0 && strlen(text) < size;
}

static weir_status check_benchmark(const char *path, const ps_benchmark *b)
{
  const ps_group *const groups = b->cohort.groups.items;

  if (!is_plain(b->name, 128)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: name: 1 to 127 characters without quotes", path);
  }
  if ((b->committee[0] != 0 && !is_plain(b->committee, 1024)) ||
      (b->cohort.where[0] != 0 && !is_plain(b->cohort.where, 4096))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: committee and cohort.where: one line of text without quotes", path);
  }
  if (!is_suffix(b->reference) || !is_suffix(b->predictions) ||
      strcmp(b->reference, b->predictions) == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: reference and predictions: two suffixes of letters, digits and '_'",
                     path);
  }
  for (int64_t i = 0; i < b->cohort.groups.count; i++) {
    if (!is_plain(groups[i].name, PS_SITE_NAME) || strcmp(groups[i].name, "all") == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: cohort.groups[%lld].name: 1 to %d characters without quotes, not all",
                       path, (long long)i, PS_SITE_NAME - 1);
    }
    for (int64_t k = 0; k < groups[i].cells.count; k++) {
      if (!is_plain(groups[i].cells.items[k], 128)) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "%s: cohort.groups[%lld].cells[%lld]: 1 to 127 characters without quotes",
                         path, (long long)i, (long long)k);
      }
    }
  }
  return WEIR_OK;
}

/* A path that stays below its folder. */
static bool is_below(const char *path)
{
  return path[0] != 0 && path[0] != '/' && strncmp(path, "../", 3) != 0 &&
         strstr(path, "/../") == NULL && strlen(path) < 1024;
}

/* The interface of an ONNX file; its names become a query. */
static weir_status check_interface(const char *path, const ps_model *m)
{
  bool known = m->weir.outputs.count == 0 && m->weir.score[0] == 0, named = true;

  for (int64_t k = 0; k < m->weir.outputs.count; k++) {
    named = named && is_suffix(m->weir.outputs.items[k]);
    known = known || strcmp(m->weir.score, m->weir.outputs.items[k]) == 0;
  }
  if (!is_below(m->weir.network) || !is_plain(m->weir.network, 1024)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: weir.network: an ONNX file below the folder of the model", path);
  }
  if (!(m->weir.fs > 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: weir.fs: state the rate that the network takes", path);
  }
  if ((m->weir.signal[0] != 0 && !is_plain(m->weir.signal, 128)) || !is_plain(m->weir.unit, 32)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: weir.signal and weir.unit: text without quotes", path);
  }
  return named && known
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: weir.score: name one of weir.outputs (letters, digits and '_'); "
                         "leave both out where the network gives one number",
                         path);
}

static weir_status check_model(const char *path, const ps_model *m)
{
  if (!is_plain(m->name, 128)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: name: 1 to 127 characters without quotes", path);
  }
  if (m->platform.need_internet_access || m->platform.accelerator_count > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: platform: a model has no %s here: run it without, or not at all", path,
                     m->platform.need_internet_access ? "network" : "accelerators");
  }
  if (m->weir.kind == PS_MODEL_PROGRAM && !is_below(m->tasks.infer.entrypoint)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: tasks.infer.entrypoint: the path of a program below the folder of the "
                     "model (containers are not run here)",
                     path);
  }
  if (m->weir.kind == PS_MODEL_QUERY && (!is_below(m->weir.query) || !is_suffix(m->weir.stream))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: weir: query is a file below the folder of the model, and stream one of "
                     "its outputs",
                     path);
  }
  return m->weir.kind == PS_MODEL_ONNX ? check_interface(path, m) : WEIR_OK;
}

static weir_status load(const weir_opt *rows, size_t size, const char *path, void *out,
                        weir_config **config)
{
  if (!weir_file_exists(path)) {
    return weir_fail(WEIR_ERR_DATA, "%s: there is no such file", path);
  }
  return weir_config_load(rows, size, &path, 1, NULL, 0, out, config);
}

weir_status ps_study_open(const char *benchmark, const char *model, ps_study *out)
{
  ps_study s = {.folder = model};
  char path[PS_SITE_PATH];
  int64_t bytes = 0;
  weir_status status = WEIR_OK;

  if (benchmark[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "site.benchmark names no file");
  }
  WEIR_TRY(
      load(benchmark_options, sizeof s.benchmark, benchmark, &s.benchmark, &s.benchmark_config));
  WEIR_TRY_GOTO(check_benchmark(benchmark, &s.benchmark), done);
  if (!weir_file_sha256(benchmark, s.benchmark_digest, &bytes)) {
    status = weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", benchmark);
    goto done;
  }
  if (model[0] != 0) {
    WEIR_TRY_GOTO(weir_path_join(model, "mlcube.yaml", path, sizeof path), done);
    WEIR_TRY_GOTO(load(model_options, sizeof s.model, path, &s.model, &s.model_config), done);
    WEIR_TRY_GOTO(check_model(path, &s.model), done);
    WEIR_TRY_GOTO(ps_folder_digest(model, s.model_digest), done);
  }
done:
  if (status != WEIR_OK) {
    ps_study_fini(&s);
    return status;
  }
  *out = s;
  return WEIR_OK;
}

void ps_study_fini(ps_study *s)
{
  weir_config_destroy(&s->benchmark_config);
  weir_config_destroy(&s->model_config);
}
