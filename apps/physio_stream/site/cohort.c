/* cohort.c - the numbers that describe records, and expressions over them that select some. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "site/model.h"
#include "stream/weir_formula.h"
#include "stream/weir_stream.h"

enum { BLOCK = 65536, OWN = 6, MAX_COLUMNS = 80, FILE_LIMIT = 16 << 20 };

static const char *const own_names[OWN] = {"duration", "present", "rate", "beats", "hr", "quality"};

void ps_attributes_fini(ps_attributes *a)
{
  weir_free(&a->names);
  weir_free(&a->values);
  *a = (ps_attributes){0};
}

/* ---- What the records tell ---- */

static weir_status count_present(weir_record *r, int64_t count, int64_t *present)
{
  float *x = NULL;
  uint8_t *flags = NULL;
  weir_status status = WEIR_OK;

  *present = 0;
  WEIR_TRY(weir_alloc(BLOCK, sizeof *x, (void **)&x));
  WEIR_TRY_GOTO(weir_alloc(BLOCK, sizeof *flags, (void **)&flags), done);
  for (int64_t t = 0; t < count; t += BLOCK) {
    const int64_t n = count - t < BLOCK ? count - t : BLOCK;

    WEIR_TRY_GOTO(weir_record_read(r, 0, t, n, x, flags), done);
    for (int64_t i = 0; i < n; i++) {
      *present += flags[i];
    }
  }
done:
  weir_free(&flags);
  weir_free(&x);
  return status;
}

static weir_status count_beats(const char *path, int64_t *beats)
{
  weir_annotations a = {0};

  *beats = 0;
  WEIR_TRY(weir_annotations_read(path, &a));
  for (int64_t i = 0; i < a.count; i++) {
    *beats += weir_annotation_is_beat(a.items[i].code);
  }
  weir_annotations_fini(&a);
  return WEIR_OK;
}

static weir_status describe(const ps_dataset *d, int64_t i, const char *annotator, bool quality,
                            float own[OWN])
{
  char path[PS_SITE_PATH], suffix[PS_SITE_NAME];
  weir_record *r = NULL;
  int64_t present = 0, beats = 0;

  (void)snprintf(suffix, sizeof suffix, ".%s", annotator);
  WEIR_TRY(ps_dataset_path(d, i, suffix, path));
  WEIR_TRY(count_beats(path, &beats));
  WEIR_TRY(ps_dataset_path(d, i, "", path));
  WEIR_TRY(weir_record_open(path, NULL, &r));
  const weir_signal_info info = *weir_record_signal(r, 0);
  const bool rated = quality && strcmp(info.units, "mV") == 0;
  weir_status status = count_present(r, info.count, &present);

  weir_record_close(&r);
  const double rate = (double)info.fs_num / (double)info.fs_den;
  const double duration = (double)info.count / rate;

  own[0] = (float)duration;
  own[1] = info.count > 0 ? (float)((double)present / (double)info.count) : NAN;
  own[2] = (float)rate;
  own[3] = (float)beats;
  own[4] = duration > 0 ? (float)(60 * (double)beats / duration) : NAN;
  double share = NAN;

  if (status == WEIR_OK && rated && rate >= 80 && duration >= 10) {
    status = ps_quality_share(path, &share);
  }
  own[5] = (float)share;
  return status;
}

/* ---- What the file tells ---- */

/* Ends the field at a comma, and returns the next one; NULL: it was the last. */
static char *next_field(char *field)
{
  char *comma = strchr(field, ',');

  if (comma != NULL) {
    *comma++ = 0;
  }
  return comma;
}

/* The head of the file makes names: letters, digits and '_'. */
static weir_status read_head(const char *path, char *line, ps_attributes *a)
{
  char *field = next_field(line);

  if (strcmp(line, "record") != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: its first column is not `record`", path);
  }
  for (char *next = NULL; field != NULL; field = next) {
    next = next_field(field);
    if (a->n >= MAX_COLUMNS || field[0] == 0 || strlen(field) >= PS_SITE_NAME - 8) {
      return weir_fail(WEIR_ERR_DATA, "%s: a column without a proper name", path);
    }
    (void)snprintf(a->names[a->n++], PS_SITE_NAME, "%s", field);
  }
  return WEIR_OK;
}

static weir_status read_row(const char *path, char *line, const ps_dataset *d, ps_attributes *a,
                            bool *seen)
{
  char *field = next_field(line);
  int64_t i = 0;

  while (i < d->n && strcmp(d->names[i], line) != 0) {
    i++;
  }
  if (i == d->n || seen[i]) {
    return weir_fail(WEIR_ERR_DATA, "%s: `%s` is no record of the dataset, or comes twice", path,
                     line);
  }
  seen[i] = true;
  for (int64_t k = 0; k < a->n; k++) {
    char *next = field != NULL ? next_field(field) : NULL, *end = field;
    const double value = field != NULL && field[0] != 0 ? strtod(field, &end) : NAN;

    if (field == NULL || *end != 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: record %s: column %s cannot be read as a number", path,
                       line, a->names[k]);
    }
    a->values[k * d->n + i] = (float)value;
    field = next;
  }
  return WEIR_OK;
}

static weir_status read_file(const ps_dataset *d, ps_attributes *a)
{
  char path[PS_SITE_PATH], *text = NULL, *save = NULL;
  bool *seen = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(d->folder, "ATTRIBUTES.csv", path, sizeof path));
  if (!weir_file_exists(path)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_file_read(path, FILE_LIMIT, &text, &size));
  WEIR_TRY_GOTO(weir_alloc(d->n, sizeof *seen, (void **)&seen), done);
  char *line = strtok_r(text, "\r\n", &save);

  if (line == NULL) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is empty", path);
    goto done;
  }
  WEIR_TRY_GOTO(read_head(path, line, a), done);
  for (int64_t i = 0; i < a->n * d->n; i++) {
    a->values[i] = NAN;
  }
  while ((line = strtok_r(NULL, "\r\n", &save)) != NULL) {
    WEIR_TRY_GOTO(read_row(path, line, d, a, seen), done);
  }
done:
  weir_free(&seen);
  weir_free(&text);
  return status;
}

weir_status ps_attributes_read(const ps_dataset *d, const char *annotator, bool quality,
                               ps_attributes *out)
{
  ps_attributes a = {.records = d->n};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(MAX_COLUMNS + OWN, sizeof *a.names, (void **)&a.names), done);
  WEIR_TRY_GOTO(weir_alloc((MAX_COLUMNS + OWN) * d->n, sizeof *a.values, (void **)&a.values), done);
  WEIR_TRY_GOTO(read_file(d, &a), done);
  for (int k = 0; k < OWN; k++) {
    (void)snprintf(a.names[a.n + k], PS_SITE_NAME, "%s", own_names[k]);
  }
  for (int64_t i = 0; i < d->n; i++) {
    float own[OWN];

    WEIR_TRY_GOTO(describe(d, i, annotator, quality, own), done);
    for (int k = 0; k < OWN; k++) {
      a.values[(a.n + k) * d->n + i] = own[k];
    }
  }
  a.n += OWN;
done:
  if (status != WEIR_OK) {
    ps_attributes_fini(&a);
    return status;
  }
  *out = a;
  return WEIR_OK;
}

/* ---- Selection ---- */

/* An expression at work: each record is a slot of streams of 1 Hz, one an attribute. */
typedef struct selection {
  const ps_attributes *a;
  const char *key, *text;
  weir_graph *graph;
  weir_store *store;
  weir_series_keeper keeper;
  weir_stream *stream;
  weir_series in[MAX_COLUMNS + OWN];
  const char *name[MAX_COLUMNS + OWN];
  char present_name[MAX_COLUMNS + OWN][PS_SITE_NAME];
  weir_stream_source sources[MAX_COLUMNS + OWN];
  int column[MAX_COLUMNS + OWN], n; /* of the attributes that the expression has */
} selection;

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool ps_attributes_named(const char *text, const char *name)
{
  const size_t size = strlen(name);

  for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
    if ((at == text || !is_letter(at[-1])) && !is_letter(at[size])) {
      return true;
    }
  }
  return false;
}

static weir_status read_attribute(void *context, int64_t lo, int64_t hi, float *values,
                                  uint8_t *present)
{
  const float *const from = context;

  for (int64_t i = lo; i < hi; i++) {
    const bool known = !isnan(from[i]);

    present[i - lo] = known ? 1 : 0;
    values[i - lo] = known ? from[i] : 0;
  }
  return WEIR_OK;
}

/* Names the attributes after the reason of the last failure. */
static weir_status refuse(const selection *s)
{
  char reason[512], names[512] = "";

  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  for (int64_t k = 0; k < s->a->n; k++) {
    const size_t at = strlen(names);

    (void)snprintf(names + at, sizeof names - at, "%s%s", k > 0 ? ", " : "", s->a->names[k]);
  }
  return weir_fail(WEIR_ERR_CONFIG, "%s: `%s`: %s; attributes: %s", s->key, s->text, reason, names);
}

static weir_status build(selection *s)
{
  weir_series result;
  weir_formula *f = NULL;
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < s->a->n; k++) {
    if (!ps_attributes_named(s->text, s->a->names[k])) {
      continue;
    }
    const int i = s->n++;

    s->name[i] = s->a->names[k];
    (void)snprintf(s->present_name[i], PS_SITE_NAME, "%.40s.present", s->name[i]);
    s->in[i] = weir_series_input(s->graph, s->name[i], s->present_name[i], 1, 1);
    s->sources[i] = (weir_stream_source){
        s->name[i],    s->present_name[i], 1,    1,
        s->a->records, read_attribute,     NULL, s->a->values + k * s->a->records};
  }
  if (s->n == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "it names no attribute");
  }
  WEIR_TRY(weir_formula_parse(s->text, &f));
  const weir_series_use use = {.graph = s->graph,
                               .store = s->store,
                               .step = "cohort",
                               .in = s->in,
                               .in_name = s->name,
                               .n_in = s->n,
                               .keeper = &s->keeper};

  if (!weir_formula_is_bool(f)) {
    status = weir_fail(WEIR_ERR_CONFIG, "it is a number, not a condition such as age >= 18");
    goto done;
  }
  WEIR_TRY_GOTO(weir_formula_build(f, &use, &result), done);
  weir_output(s->graph, "truth", result.value); /* false where it is not known */
  status = weir_graph_status(s->graph);
done:
  weir_formula_destroy(&f);
  return status;
}

static weir_status compute(selection *s, uint8_t *truth)
{
  weir_stream_kept kept = {.data = truth, .capacity = s->a->records};
  const weir_stream_sink sink = {"truth", weir_stream_keep, &kept};
  weir_stream_cfg stream;
  weir_exec_cfg exec;
  weir_stream_report report;

  weir_opts_default(weir_stream_opts, sizeof stream, &stream);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* too little work to compile code for */
  const weir_stream_job job = {.graph = s->graph,
                               .store = s->store,
                               .sources = s->sources,
                               .n_sources = s->n,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &stream,
                               .exec = &exec,
                               .threads = 1};

  WEIR_TRY(weir_stream_create(&job, &s->stream));
  const weir_log_level before = weir_log_set_thread_level(WEIR_LOG_WARN);
  const weir_status status = weir_stream_run(s->stream, &report);

  (void)weir_log_set_thread_level(before);
  return status;
}

weir_status ps_attributes_select(const ps_attributes *a, const char *key, const char *text,
                                 uint8_t *truth)
{
  selection *s = NULL;
  weir_status status = WEIR_OK;

  memset(truth, text[0] == 0, (size_t)a->records);
  if (text[0] == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  s->a = a;
  s->key = key;
  s->text = text;
  WEIR_TRY_GOTO(weir_graph_create(&s->graph), done);
  WEIR_TRY_GOTO(weir_store_create(&s->store), done);
  status = build(s);
  if (status == WEIR_ERR_CONFIG) {
    status = refuse(s);
  }
  if (status == WEIR_OK) {
    status = compute(s, truth);
  }
done:
  weir_stream_destroy(&s->stream);
  weir_graph_destroy(&s->graph);
  weir_store_destroy(&s->store);
  weir_series_keeper_fini(&s->keeper);
  weir_free(&s);
  return status;
}
