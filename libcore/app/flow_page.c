/* flow_page.c - the page of a flow: its steps, what they are made from, and what each has found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/flow_files.h"
#include "app/weir_flow.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "report/weir_report.h"

enum { TEXT = 512, DIGITS = 16, FIRST_STEP = 3 };

/* A table with links, made row by row. */
typedef struct rows {
  weir_table cell, address; /* "" no link */
  signed char *mark;
  int64_t capacity;
  weir_status status;
} rows;

static void add_cell(rows *t, int mark, const char *text, const char *address)
{
  if (t->status == WEIR_OK) {
    t->status = weir_reserve(&t->mark, &t->capacity, t->cell.count + 1, sizeof *t->mark);
  }
  if (t->status == WEIR_OK) {
    t->mark[t->cell.count] = (signed char)mark;
    weir_table_add(&t->cell, "%s", text);
    weir_table_add(&t->address, "%s", address);
  }
}

static weir_status report_rows(rows *t, weir_report *r, const char *id, int columns,
                               const char *const *head)
{
  WEIR_TRY(t->status);
  WEIR_TRY(t->cell.status);
  WEIR_TRY(t->address.status);
  for (int64_t i = 0; i < t->address.count; i++) {
    if (*t->address.cell[i] == 0) {
      weir_free(&t->address.cell[i]);
    }
  }
  return weir_report_add_rows(r, &(weir_report_rows){.id = id,
                                                     .columns = columns,
                                                     .rows = t->cell.count / columns,
                                                     .head = head,
                                                     .cells = t->cell.cell,
                                                     .mark = t->mark,
                                                     .address = t->address.cell});
}

static void fini_rows(rows *t)
{
  weir_table_fini(&t->cell);
  weir_table_fini(&t->address);
  weir_free(&t->mark);
}

/* ---- The index ---- */

static const char *say_state(const app_flow_instance *i, char text[TEXT])
{
  switch (i->word) {
  case APP_FLOW_DONE:
    return "done";
  case APP_FLOW_RUNNING:
    return "running";
  case APP_FLOW_QUEUED:
    return "queued again";
  case APP_FLOW_FAILED:
  case APP_FLOW_STOPPED:
    (void)snprintf(text, TEXT, "%s (status %s)", i->word == APP_FLOW_FAILED ? "failed" : "stopped",
                   i->status);
    return text;
  case APP_FLOW_SUBMITTED:
  case APP_FLOW_NOT_STARTED:
    break;
  }
  if (i->broken != NULL) {
    (void)snprintf(text, TEXT, "not started: it needs %s", i->broken);
    return text;
  }
  return i->word == APP_FLOW_SUBMITTED ? "submitted" : "not started";
}

static int mark_of(const app_flow_instance *i)
{
  return i->word == APP_FLOW_DONE                                    ? 1
         : i->word == APP_FLOW_FAILED || i->word == APP_FLOW_STOPPED ? -1
                                                                     : 0;
}

/* Where the page tells of an instance: under the heading of a step that runs once, the N-th of the
 * page, or under its own. */
static void put_anchor(const app_flow *f, int64_t k, char text[TEXT])
{
  const char *const id = f->instance[k].id;
  int64_t heading = FIRST_STEP;

  for (int64_t i = 1; i <= k; i++) {
    heading += strcmp(f->instance[i].step, f->instance[i - 1].step) != 0;
  }
  if (strcmp(id, f->instance[k].step) == 0) {
    (void)snprintf(text, TEXT, "#part_%lld", (long long)heading);
  } else {
    (void)snprintf(text, TEXT, "#%s", id);
  }
}

/* "2026-01-31T12:00:00Z" without its letters. */
static void add_time(rows *t, const char *utc)
{
  char text[TEXT];

  (void)snprintf(text, sizeof text, "%s", utc);
  const size_t n = strlen(text);

  if (n == sizeof "2026-01-31T12:00:00Z" - 1 && text[n - 1] == 'Z') {
    text[n - 1] = 0;
    text[strcspn(text, "T")] = ' ';
  }
  add_cell(t, 0, text, "");
}

static void add_instance(const app_flow *f, int64_t k, rows *t)
{
  const app_flow_instance *const i = &f->instance[k];
  char text[TEXT], amount[WEIR_AMOUNT_SIZE], address[APP_FLOW_PATH];
  const double seconds = app_flow_seconds(i);

  put_anchor(f, k, text);
  add_cell(t, 0, i->id, text);
  add_cell(t, mark_of(i), say_state(i, text), "");
  add_time(t, i->begun);
  add_cell(t, 0,
           i->word == APP_FLOW_RUNNING || isnan(seconds) ? "-"
           : seconds < 1                                 ? "under 1 s"
                                                         : weir_amount_time(seconds, amount),
           "");
  add_cell(t, 0, i->host, "");
  add_cell(t, 0, i->job, "");
  (void)snprintf(address, sizeof address, "%s/report.html", i->id);
  if (app_flow_has(f, address)) {
    add_cell(t, 0, "report", address);
  } else {
    const bool there = app_flow_has(f, i->id);

    (void)snprintf(address, sizeof address, "%s/", i->id);
    add_cell(t, 0, there ? "files" : "-", there ? address : "");
  }
  (void)app_flow_file(i, "log", address);
  const bool has_log = app_flow_has(f, address);

  add_cell(t, 0, has_log ? "log" : "-", has_log ? address : "");
}

static weir_status add_index(const app_flow *f, weir_report *r)
{
  enum { COLUMNS = 8 };
  static const char *const head[COLUMNS] = {"step", "state", "begun (UTC)", "time",
                                            "host", "job",   "results",     "messages"};
  rows t = {0};

  WEIR_TRY(weir_report_heading(r, "Steps"));
  for (int64_t k = 0; k < f->n; k++) {
    add_instance(f, k, &t);
  }
  const weir_status status = report_rows(&t, r, "steps", COLUMNS, head);

  fini_rows(&t);
  return status;
}

/* ---- What results are made from ---- */

/* The same file with the same digest has one row, with all steps that have read it. */
static void add_source(weir_table *t, int columns, const char *kind, const char *name,
                       const char *digest, const char *step)
{
  const int n = (int)strcspn(digest, " ");
  char hex[2 * DIGITS];

  (void)snprintf(hex, sizeof hex, "%.*s", n < DIGITS ? n : DIGITS, digest);
  for (int64_t i = 0; i + columns <= t->count; i += columns) {
    if (strcmp(t->cell[i], kind) == 0 && strcmp(t->cell[i + 1], name) == 0 &&
        strcmp(t->cell[i + 2], hex) == 0) {
      const char *const steps = t->cell[i + 3], *const last = strrchr(steps, ' ');
      const int64_t size = (int64_t)(strlen(steps) + strlen(step) + sizeof ", ");
      void *text = NULL;

      if (strcmp(last == NULL ? steps : last + 1, step) != 0) {
        t->status = weir_alloc(size, 1, &text);
      }
      if (text != NULL) {
        (void)snprintf(text, (size_t)size, "%s, %s", steps, step);
        weir_free(&t->cell[i + 3]);
        t->cell[i + 3] = text;
      }
      return;
    }
  }
  weir_table_add(t, "%s", kind);
  weir_table_add(t, "%s", name);
  weir_table_add(t, "%s", hex);
  weir_table_add(t, "%s", step);
}

/* The path after a digest: one blank, of sha256sum two. */
static const char *path_of(const char *line)
{
  const char *const at = line + strcspn(line, " ");

  return at + strspn(at, " ");
}

static void add_sources(const app_flow_instance *i, int columns, weir_table *t)
{
  static const char *const kinds[][2] = {
      {"config", "configuration"}, {"input", "input"}, {"read", "input"}};
  const char *const program = app_flow_next(&i->plan, "program", NULL), *const digest =
                                                                            app_flow_next(
                                                                                &i->marker,
                                                                                "program", NULL);
  char name[TEXT];

  if (program != NULL && digest != NULL) {
    (void)snprintf(name, sizeof name, "%s%s%s", program, *i->version != 0 ? " " : "", i->version);
    add_source(t, columns, "program", name, digest, i->step);
  }
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    for (const char *line = NULL;
         t->status == WEIR_OK && (line = app_flow_next(&i->marker, kinds[k][0], line)) != NULL;) {
      add_source(t, columns, kinds[k][1], path_of(line), line, i->step);
    }
  }
}

static weir_status add_provenance(const app_flow *f, weir_report *r)
{
  enum { COLUMNS = 4 };
  static const char *const head[COLUMNS] = {"kind", "name", "SHA-256, first digits", "steps"};
  weir_table t = {0};

  WEIR_TRY(weir_report_heading(r, "Programs, configurations and inputs"));
  for (int64_t k = 0; k < f->n; k++) {
    add_sources(&f->instance[k], COLUMNS, &t);
  }
  const weir_status status = t.count == 0 && t.status == WEIR_OK
                                 ? weir_report_text(r, "No step has begun.")
                                 : weir_table_report(&t, r, "provenance", COLUMNS, head);

  weir_table_fini(&t);
  return status;
}

/* ---- The steps ---- */

/* A word as a shell reads it. */
static void put_word(FILE *out, const char *word)
{
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";

  if (*word != 0 && word[strspn(word, plain)] == 0) {
    fputs(word, out);
    return;
  }
  fputs("'", out);
  for (const char *c = word; *c != 0; c++) {
    fputs(*c == '\'' ? "'\\'" : "", out);
    fputc(*c, out);
  }
  fputs("'", out);
}

/* A word of a plan, in which @OUT@ is the folder of the flow. */
static void put_plan_word(FILE *out, const char *word, const char *dir)
{
  static const char mark[] = "@OUT@";
  char text[APP_FLOW_PATH];
  size_t n = 0;

  while (*word != 0 && n + 1 < sizeof text) {
    const bool is_dir = strncmp(word, mark, sizeof mark - 1) == 0;
    const int used =
        snprintf(text + n, sizeof text - n, is_dir ? "%s" : "%.1s", is_dir ? dir : word);

    n += (size_t)used < sizeof text - n ? (size_t)used : sizeof text - 1 - n;
    word += is_dir ? sizeof mark - 1 : 1;
  }
  text[n] = 0;
  put_word(out, text);
}

static weir_status add_command(const app_flow *f, const app_flow_instance *i, weir_report *r)
{
  const char *const program = app_flow_next(&i->plan, "program", NULL);
  char *text = NULL;
  size_t size = 0;
  FILE *const out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "report: no memory for a command");
  }
  put_word(out, program != NULL ? program : "");
  for (const char *word = NULL; (word = app_flow_next(&i->plan, "word", word)) != NULL;) {
    fputs(" ", out);
    put_plan_word(out, word, f->dir);
  }
  fputs(" --out ", out);
  put_plan_word(out, "@OUT@", f->dir);
  fprintf(out, "/%s", i->id);
  const weir_status status = fclose(out) == 0
                                 ? weir_report_verbatim(r, text)
                                 : weir_fail(WEIR_ERR_MEMORY, "report: no memory for a command");

  free(text);
  return status;
}

/* What is needed to see why a step did not come to its end. */
static weir_status add_messages(const app_flow *f, const app_flow_instance *i, weir_report *r)
{
  char address[APP_FLOW_PATH], text[TEXT], *messages = NULL;

  WEIR_TRY(weir_report_text(r, "This step %s. Its last messages:", say_state(i, text)));
  WEIR_TRY(app_flow_read_messages(f, i, &messages));
  const weir_status status = weir_report_verbatim(r, *messages != 0 ? messages : "none");

  weir_free(&messages);
  WEIR_TRY(status);
  return app_flow_has(f, app_flow_file(i, "log", address))
             ? weir_report_link(r, address, "All messages")
             : WEIR_OK;
}

static weir_status add_step(const app_flow *f, int64_t k, weir_report *r)
{
  const app_flow_instance *const i = &f->instance[k];
  char address[APP_FLOW_PATH], text[TEXT];

  if (k == 0 || strcmp(i->step, f->instance[k - 1].step) != 0) {
    WEIR_TRY(weir_report_heading(r, i->step));
  }
  if (strcmp(i->id, i->step) != 0) {
    WEIR_TRY(weir_report_subheading(r, i->id, i->id));
  }
  WEIR_TRY(add_command(f, i, r));
  if (mark_of(i) < 0) {
    WEIR_TRY(add_messages(f, i, r));
  } else if (i->word != APP_FLOW_DONE) {
    WEIR_TRY(weir_report_text(r, "This step is %s.", say_state(i, text)));
  }
  (void)snprintf(address, sizeof address, "%s/report.html", i->id);
  if (!app_flow_has(f, address)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_report_excerpt(r, i->id));
  (void)snprintf(text, sizeof text, "The report of %s", i->id);
  return weir_report_link(r, address, text);
}

static weir_status fill(const app_flow *f, int64_t done, weir_report *r)
{
  weir_report_fact(r, "steps", "%lld of %lld done", (long long)done, (long long)f->n);
  WEIR_TRY(add_index(f, r));
  WEIR_TRY(add_provenance(f, r));
  for (int64_t k = 0; k < f->n; k++) {
    WEIR_TRY(add_step(f, k, r));
  }
  return WEIR_OK;
}

weir_status weir_flow_report(const weir_cli *cli)
{
  char title[TEXT];
  weir_report *r = NULL;
  weir_status status = WEIR_OK;
  app_flow f;

  if (cli->n_args != 1 || cli->out != NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "report: name the folder of one flow, that was --out of workflows/flow.sh, "
                     "without a flag: %s report DIR",
                     cli->app->name);
  }
  WEIR_TRY_GOTO(app_flow_read(cli->args[0], &f), done);
  int64_t done = 0;

  for (int64_t k = 0; k < f.n; k++) {
    done += f.instance[k].word == APP_FLOW_DONE;
  }
  (void)snprintf(title, sizeof title, "%s: steps of a workflow", cli->app->name);
  WEIR_TRY_GOTO(weir_report_open_page(f.dir, "index.html", title, &r), done);
  status = weir_report_commit(&r, fill(&f, done, r));
  if (status == WEIR_OK) {
    weir_info("report", "%s/index.html: %lld of %lld steps are done", f.dir, (long long)done,
              (long long)f.n);
  }
done:
  app_flow_fini(&f);
  return status;
}
