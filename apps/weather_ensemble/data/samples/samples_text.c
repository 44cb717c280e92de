/* samples_text.c - see samples_text.h. */
#include "data/samples/samples_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/samples/samples_priv.h"

enum { KEY = WX_SHORT + 64 };

const char *const wx_sense_name[WX_SENSES] = {"periods", "depth", "grid", "invariants"};
static const char *const kind_name[] = {"lat-lon", "y-x", "sites"};
enum { KINDS = sizeof kind_name / sizeof kind_name[0] };

/* ---- Periods ---- */

/* A quantity as it is at one lead; lead < 0: at all that are used. */
typedef struct item {
  const wx_archive_info *facts;
  bool truth;
  int64_t quantity, lead;
  char sense[WX_LONG];
} item;

static void item_key(const item *t, bool with_lead, char key[KEY])
{
  const char *const name = t->facts->quantity[t->quantity].name;

  if (t->truth || !with_lead) {
    (void)snprintf(key, KEY, "%s%s", name, t->truth ? " analysis" : "");
  } else {
    (void)snprintf(key, KEY, "%s %.9g h", name, t->facts->lead[t->lead]);
  }
}

static void item_sense(item *t)
{
  const wx_quantity *const q = &t->facts->quantity[t->quantity];
  const double hours = wx_archive_period(t->facts, t->quantity, t->lead);

  if (q->method[0] == 0) {
    (void)snprintf(t->sense, sizeof t->sense, "instant");
  } else if (isnan(hours)) {
    (void)snprintf(t->sense, sizeof t->sense, "%s over a time that is not stated", q->method);
  } else {
    (void)snprintf(t->sense, sizeof t->sense, "%s over %.6g h", q->method, hours);
  }
}

/* Leads of the archive at which samples use a quantity: used[n_leads]. Whether there are any. */
static bool mark_leads(const wx_samples *s, bool truth, int64_t quantity, bool *used)
{
  bool any = false;

  for (int64_t i = 0; i < s->n_fields; i++) {
    const wx_field *const f = &s->field[i];
    const bool of_sample = f->lead == WX_OF_SAMPLE, leads = s->opts->depth == WX_DEPTH_LEAD;

    if (f->truth != truth || f->quantity != quantity) {
      continue;
    }
    any = true;
    if (truth || !of_sample) {
      used[truth ? 0 : f->lead] = true;
    }
    for (int64_t l = 0; l < s->n_leads && !truth && of_sample; l++) {
      used[s->lead[l]] = used[s->lead[l]] || !leads || l == f->depth;
    }
  }
  return any;
}

typedef weir_status (*visitor)(void *context, const item *t, bool with_lead);

/* Items of one quantity: one for all leads where it is the same at all. */
static weir_status visit_leads(item *t, const bool *used, bool each, visitor visit, void *context)
{
  char first[WX_LONG] = "";
  bool same = true;
  int64_t of = -1;

  for (int64_t l = 0; l < t->facts->n_leads; l++) {
    if (used[l]) {
      t->lead = l;
      item_sense(t);
      if (of < 0) {
        of = l;
        memcpy(first, t->sense, sizeof first);
      }
      same = same && strcmp(first, t->sense) == 0;
    }
  }
  for (int64_t l = 0; l < t->facts->n_leads; l++) {
    if (used[l] && (each || !same || l == of)) {
      t->lead = l;
      item_sense(t);
      WEIR_TRY(visit(context, t, each || !same));
    }
  }
  return WEIR_OK;
}

/* All items, forecasts before the analysis. each: one for every lead, though they be the same. */
static weir_status visit_items(const wx_samples *s, bool each, visitor visit, void *context)
{
  weir_status status = WEIR_OK;

  for (int truth = 0; truth < 2 && (truth == 0 || s->truth != NULL); truth++) {
    item t = {.facts = wx_archive_get(truth != 0 ? s->truth : s->forecast), .truth = truth != 0};

    for (t.quantity = 0; t.quantity < t.facts->n_quantities && status == WEIR_OK; t.quantity++) {
      bool *used = NULL;

      WEIR_TRY(weir_alloc(t.facts->n_leads, sizeof *used, (void **)&used));
      if (mark_leads(s, t.truth, t.quantity, used)) {
        status = visit_leads(&t, used, each, visit, context);
      }
      weir_free(&used);
    }
  }
  return status;
}

static weir_status print_item(void *context, const item *t, bool with_lead)
{
  FILE *const out = context;
  char key[KEY];

  item_key(t, with_lead, key);
  (void)fprintf(out, "%s%s: %s", ftell(out) > 0 ? "; " : "", key, t->sense);
  return WEIR_OK;
}

/* ---- Depth and grid ---- */

static void print_depth(const wx_samples *s, FILE *out)
{
  const int depth = s->opts->depth;

  (void)fputs(depth == WX_DEPTH_LEVEL ? "levels" : depth == WX_DEPTH_LEAD ? "leads" : "none", out);
  for (int64_t l = 0; l < s->facts.depth && depth != WX_DEPTH_NONE; l++) {
    (void)fprintf(out, " %.9g",
                  depth == WX_DEPTH_LEVEL ? s->opts->levels.items[l]
                                          : wx_archive_get(s->forecast)->lead[s->lead[l]]);
  }
  (void)fputs(depth == WX_DEPTH_LEVEL ? " hPa" : depth == WX_DEPTH_LEAD ? " h" : "", out);
}

static int64_t rows_of(const wx_grid *g)
{
  return g->kind == WX_GRID_SITES ? g->n_lon : g->n_lat;
}

static void print_grid(const wx_grid *g, FILE *out)
{
  (void)fprintf(out, "%s %lld x %lld", kind_name[g->kind], (long long)g->n_lat,
                (long long)g->n_lon);
  for (int k = 0; k < 2 && g->lat != NULL && g->lon != NULL; k++) {
    const double *const x = k == 0 ? g->lat : g->lon;

    (void)fputs(";", out);
    for (int64_t i = 0; i < (k == 0 ? rows_of(g) : g->n_lon); i++) {
      (void)fprintf(out, " %.9g", x[i]);
    }
  }
}

/* ---- Invariants ---- */

static void moments(const wx_samples *s, int k, double *mean, double *sd)
{
  const float *const x = s->invariants.field[k];
  double square = 0;

  *mean = 0;
  for (int64_t i = 0; i < s->plane; i++) {
    *mean += (double)x[i] / (double)s->plane;
  }
  for (int64_t i = 0; i < s->plane; i++) {
    square += ((double)x[i] - *mean) * ((double)x[i] - *mean);
  }
  *sd = sqrt(square / (double)s->plane);
}

static bool uses(const wx_samples *s, int k)
{
  return k == WX_OROGRAPHY ? s->opts->orography : s->opts->land_sea_mask;
}

static void print_invariants(const wx_samples *s, FILE *out)
{
  double mean = 0, sd = 0;

  for (int k = 0; k < WX_INVARIANTS; k++) {
    if (uses(s, k)) {
      moments(s, k, &mean, &sd);
      (void)fprintf(out, "%s%s: mean %.9g, standard deviation %.9g", ftell(out) > 0 ? "; " : "",
                    wx_invariant_name[k], mean, sd);
    }
  }
  (void)fputs(ftell(out) > 0 ? "" : "none", out);
}

weir_status wx_samples_text(const wx_samples *s, wx_sense sense, char **text)
{
  size_t size = 0;
  char *made = NULL;
  FILE *const out = open_memstream(&made, &size);
  weir_status status = WEIR_OK;

  *text = NULL;
  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "no memory for a text of %s", wx_sense_name[sense]);
  }
  if (sense == WX_SENSE_PERIODS) {
    status = visit_items(s, false, print_item, out);
  } else if (sense == WX_SENSE_DEPTH) {
    print_depth(s, out);
  } else if (sense == WX_SENSE_INVARIANTS) {
    print_invariants(s, out);
  } else {
    print_grid(&wx_archive_get(s->forecast)->grid, out);
  }
  const bool whole = fclose(out) == 0;

  if (status == WEIR_OK) {
    status = whole ? weir_strdup(made, text)
                   : weir_fail(WEIR_ERR_MEMORY, "no memory for a text of %s", wx_sense_name[sense]);
  }
  free(made);
  return status;
}

/* ---- Compared ---- */

typedef struct comparison {
  const char *path, *text;
  bool warned; /* of a period that neither side states */
} comparison;

/* The text after "KEY: " in the items of a text, up to the next; n: its length, -1: no item. */
static const char *find_item(const char *text, const char *key, int *n)
{
  const size_t length = strlen(key);

  *n = -1;
  for (const char *at = text; *at != 0;) {
    const char *const end = strstr(at, "; ");

    if (strncmp(at, key, length) == 0 && strncmp(at + length, ": ", 2) == 0) {
      at += length + 2;
      *n = end != NULL ? (int)(end - at) : (int)strlen(at);
      return at;
    }
    at = end != NULL ? end + 2 : at + strlen(at);
  }
  return NULL;
}

/* Items of a quantity at whichever leads, as they stand. */
static void copy_items(const char *text, const char *name, char *to, size_t size)
{
  const size_t length = strlen(name);

  to[0] = 0;
  for (const char *at = text; *at != 0;) {
    const char *const end = strstr(at, "; ");
    const int n = end != NULL ? (int)(end - at) : (int)strlen(at);
    const size_t used = strlen(to);

    if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == ':')) {
      (void)snprintf(to + used, size - used, "%s%.*s", used > 0 ? "; " : "", n, at);
    }
    at += n + (end != NULL ? 2 : 0);
  }
}

static weir_status compare_item(void *context, const item *t, bool with_lead)
{
  comparison *const c = context;
  char key[2][KEY], trained[512];
  int n = -1;

  item_key(t, false, key[0]);
  item_key(t, with_lead, key[1]);
  const char *at = find_item(c->text, key[1], &n);

  if (at == NULL) {
    at = find_item(c->text, key[0], &n);
  }
  if (at != NULL && (size_t)n == strlen(t->sense) && memcmp(at, t->sense, (size_t)n) == 0) {
    if (strstr(t->sense, "not stated") != NULL && !c->warned) {
      weir_warn("weights",
                "%s: trained on %s over a time that was not stated, nor is it in %s: that both are "
                "the same is not checked",
                c->path, key[0], t->facts->name);
      c->warned = true;
    }
    return WEIR_OK;
  }
  copy_items(c->text, key[0], trained, sizeof trained);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: its weights were trained on \"%s\", and in %s is \"%s: %s\": give the same "
                   "sums, means or extremes, made first of what is there, or train on these",
                   c->path, trained[0] != 0 ? trained : "no such quantity", t->facts->name, key[1],
                   t->sense);
}

static weir_status refuse_unstated(void *context, const item *t, bool with_lead)
{
  const comparison *const c = context;
  char key[KEY];

  if (strcmp(t->sense, "instant") == 0) {
    return WEIR_OK;
  }
  item_key(t, with_lead, key);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: its weights are of a version that did not keep over which time values were "
                   "taken (no text attribute %s), and in %s is \"%s: %s\": train again",
                   c->path, wx_sense_name[WX_SENSE_PERIODS], t->facts->name, key, t->sense);
}

/* Reads n numbers after a semicolon. */
static bool take_line(const char **at, int64_t n, double *x)
{
  bool is = **at == ';';

  *at += is;
  for (int64_t i = 0; i < n && is; i++) {
    char *end = NULL;

    x[i] = strtod(*at, &end);
    is = end != *at && isfinite(x[i]);
    *at = end;
  }
  return is;
}

/* The grid of such a text; its lines, which the caller frees, are in line[2]. *is: it is one.
 * Fails: WEIR_ERR_MEMORY. */
static weir_status parse_grid(const char *text, wx_grid *g, double *line[2], bool *is)
{
  char name[16] = "";
  long long rows = 0, columns = 0;
  int end = 0;
  bool known = false;

  *g = (wx_grid){.kind = WX_GRID_LATLON};
  *is = sscanf(text, "%15s %lld x %lld%n", name, &rows, &columns, &end) == 3;
  for (int k = 0; k < KINDS; k++) {
    known = known || strcmp(name, kind_name[k]) == 0;
    g->kind = strcmp(name, kind_name[k]) == 0 ? (wx_grid_kind)k : g->kind;
  }
  const bool lines = *is && text[end] == ';';
  const int64_t max_length = lines ? (int64_t)strlen(text) : WX_MAX_LINE; /* a number has a blank */

  *is = *is && known && rows >= 1 && columns >= 1 && rows <= max_length && columns <= max_length &&
        (g->kind != WX_GRID_SITES || rows == 1) &&
        (lines || (g->kind == WX_GRID_SITES && text[end] == 0));
  g->n_lat = rows;
  g->n_lon = columns;
  if (!*is || !lines) {
    return WEIR_OK;
  }
  const char *at = text + end;

  WEIR_TRY(weir_alloc(rows_of(g), sizeof(double), (void **)&line[0]));
  WEIR_TRY(weir_alloc(g->n_lon, sizeof(double), (void **)&line[1]));
  *is = take_line(&at, rows_of(g), line[0]) && take_line(&at, g->n_lon, line[1]) && *at == 0;
  g->lat = line[0];
  g->lon = line[1];
  return WEIR_OK;
}

static weir_status compare_grid(const wx_archive_info *f, const char *path, const char *text)
{
  double *line[2] = {NULL, NULL};
  char here[WX_LONG], there[WX_LONG];
  wx_grid g;
  bool is = false;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(parse_grid(text, &g, line, &is), done);
  if (!is) {
    status = weir_fail(WEIR_ERR_DATA, "%s: its attribute %s, \"%.60s\", is no grid", path,
                       wx_sense_name[WX_SENSE_GRID], text);
    goto done;
  }
  const char *const reason = wx_grid_differs(&g, &f->grid);

  if (reason != NULL) {
    wx_grid_text(&g, there, sizeof there);
    wx_grid_text(&f->grid, here, sizeof here);
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: its weights are of the grid %s, and that of %s is %s: %s; bring the "
                       "forecasts to that grid first, or train on theirs",
                       path, there, f->name, here, reason);
  }
done:
  weir_free(&line[0]);
  weir_free(&line[1]);
  return status;
}

static weir_status compare_depth(const wx_samples *s, const char *path, const char *text)
{
  char *here = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_samples_text(s, WX_SENSE_DEPTH, &here));
  if (strcmp(here, text) != 0) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "%s: the depth of its samples is \"%s\", and here it is \"%s\": give "
                       "data.depth, data.levels and data.lead of its run (--config "
                       "RUN/resolved.yaml)",
                       path, text, here);
  }
  weir_free(&here);
  return status;
}

/* Another surface is told by its moments, which recoding changes by less than a thousandth. */
static weir_status compare_invariants(const wx_samples *s, const char *path, const char *text)
{
  for (int k = 0; k < WX_INVARIANTS; k++) {
    double is[2] = {0, 0}, was[2] = {0, 0};
    int n = -1;

    if (!uses(s, k)) {
      continue;
    }
    moments(s, k, &is[0], &is[1]);
    const char *const at = find_item(text, wx_invariant_name[k], &n);

    if (at == NULL || sscanf(at, "mean %lf, standard deviation %lf", &was[0], &was[1]) != 2) {
      return weir_fail(WEIR_ERR_DATA, "%s: its attribute %s, \"%.200s\", does not describe its %s",
                       path, wx_sense_name[WX_SENSE_INVARIANTS], text, wx_invariant_name[k]);
    }
    if (!(fabs(is[0] - was[0]) <= 1e-3 * was[1] + 1e-9 && fabs(is[1] - was[1]) <= 1e-3 * was[1])) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its weights were trained with another %s (mean %g, standard deviation "
                       "%g) than that of %s (%g, %g): give the file of the training as "
                       "data.invariants, or train again",
                       path, wx_invariant_name[k], was[0], was[1], s->opts->invariants.items[0],
                       is[0], is[1]);
    }
  }
  return WEIR_OK;
}

weir_status wx_samples_fit_text(const wx_samples *s, const char *path,
                                const char *const text[WX_SENSES])
{
  comparison c = {.path = path, .text = text[WX_SENSE_PERIODS]};
  const wx_archive_info *const f = wx_archive_get(s->forecast);

  if (text[WX_SENSE_DEPTH] != NULL) {
    WEIR_TRY(compare_depth(s, path, text[WX_SENSE_DEPTH]));
  }
  WEIR_TRY(visit_items(s, true, c.text != NULL ? compare_item : refuse_unstated, &c));
  if (text[WX_SENSE_GRID] != NULL) {
    WEIR_TRY(compare_grid(f, path, text[WX_SENSE_GRID]));
  }
  if (text[WX_SENSE_INVARIANTS] != NULL) {
    WEIR_TRY(compare_invariants(s, path, text[WX_SENSE_INVARIANTS]));
  }
  for (int k = 0; k < WX_SENSES; k++) {
    const bool has = k != WX_SENSE_INVARIANTS || s->opts->orography || s->opts->land_sea_mask;

    if (text[k] == NULL && has) {
      weir_warn("weights",
                "%s: is of a version that did not keep the %s of its samples (no such text "
                "attribute): that it is that of %s is not checked; train again to have it checked",
                path, wx_sense_name[k], f->name);
    }
  }
  return WEIR_OK;
}
