/* flow_files.c - see flow_files.h. */
#include "app/flow_files.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { MAX_INSTANCES = 1000000, MESSAGES = 4, MESSAGE_BYTES = 4096, STATE_WORDS = 7 };
#define MAX_FILE ((int64_t)64 << 20)

static const struct {
  const char *name;
  app_flow_word word;
} words[] = {{"running", APP_FLOW_RUNNING},
             {"queued", APP_FLOW_QUEUED},
             {"done", APP_FLOW_DONE},
             {"failed", APP_FLOW_FAILED},
             {"stopped", APP_FLOW_STOPPED}};

const char *app_flow_next(const app_flow_lines *lines, const char *key, const char *after)
{
  const size_t length = strlen(key);
  const char *const end = lines->text == NULL ? NULL : lines->text + lines->size;
  const char *at = after == NULL ? lines->text : after + strlen(after) + 1;

  for (; at != NULL && at < end; at += strlen(at) + 1) {
    if (strncmp(at, key, length) == 0 && at[length] == ' ') {
      return at + length + 1;
    }
  }
  return NULL;
}

const char *app_flow_file(const app_flow_instance *i, const char *suffix, char text[APP_FLOW_PATH])
{
  const int n = snprintf(text, APP_FLOW_PATH, "flow/%s.%s", i->id, suffix);

  for (int k = (int)strlen("flow/"); k < n && k < APP_FLOW_PATH; k++) {
    text[k] = text[k] == '/' ? '.' : text[k];
  }
  return text;
}

bool app_flow_has(const app_flow *f, const char *address)
{
  char path[APP_FLOW_PATH];

  return snprintf(path, sizeof path, "%s/%s", f->dir, address) < APP_FLOW_PATH &&
         access(path, F_OK) == 0;
}

/* A file that is not there has no lines. */
static weir_status read_lines(const app_flow *f, const char *address, app_flow_lines *out)
{
  char path[APP_FLOW_PATH];

  WEIR_TRY(weir_path_join(f->dir, address, path, sizeof path));
  if (access(path, F_OK) != 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_file_read(path, MAX_FILE, &out->text, &out->size));
  for (int64_t i = 0; i < out->size; i++) {
    out->text[i] = (char)(out->text[i] == '\n' ? 0 : out->text[i]);
  }
  return WEIR_OK;
}

static weir_status damaged(const app_flow *f, const char *address, const char *why)
{
  return weir_fail(WEIR_ERR_DATA,
                   "%s/%s: %s: the file is damaged; start workflows/flow.sh with --resume", f->dir,
                   address, why);
}

/* WORD STATUS HOST PROCESS JOB BEGUN CHANGED */
static weir_status split_state(const app_flow *f, const char *address, app_flow_instance *i)
{
  char *part[STATE_WORDS], *rest = i->state.text;
  int n = 0;

  for (char *word; (word = strsep(&rest, " ")) != NULL; n++) {
    if (n == STATE_WORDS || *word == 0) {
      return damaged(f, address, "not a line of 7 words");
    }
    part[n] = word;
  }
  if (n != STATE_WORDS) {
    return damaged(f, address, "not a line of 7 words");
  }
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    if (strcmp(words[k].name, part[0]) == 0) {
      i->word = words[k].word;
      i->status = part[1];
      i->host = part[2];
      i->job = part[4];
      i->begun = part[5];
      i->changed = part[6];
      return WEIR_OK;
    }
  }
  return damaged(f, address, "an unknown state");
}

/* "version" of provenance.json, which has a line of its own there (base/weir_provenance.h). */
static weir_status read_version(const app_flow *f, app_flow_instance *i)
{
  static const char before[] = "  \"version\": \"";
  char address[APP_FLOW_PATH];
  app_flow_lines lines = {0};

  (void)snprintf(address, sizeof address, "%s/provenance.json", i->id);
  WEIR_TRY(read_lines(f, address, &lines));
  for (const char *at = lines.text; at != NULL && at < lines.text + lines.size;
       at += strlen(at) + 1) {
    if (strncmp(at, before, sizeof before - 1) == 0) {
      const size_t n = strcspn(at + sizeof before - 1, "\"");

      (void)snprintf(i->version, sizeof i->version, "%.*s", (int)(n < sizeof i->version ? n : 0),
                     at + sizeof before - 1);
      break;
    }
  }
  weir_free(&lines.text);
  return WEIR_OK;
}

static weir_status read_instance(const app_flow *f, app_flow_instance *i)
{
  char address[APP_FLOW_PATH];

  i->status = i->host = i->job = i->begun = i->changed = "-";
  WEIR_TRY(read_lines(f, app_flow_file(i, "plan", address), &i->plan));
  i->step = app_flow_next(&i->plan, "step", NULL);
  if (i->step == NULL || app_flow_next(&i->plan, "word", NULL) == NULL) {
    return damaged(f, address, "no step and command in it");
  }
  const bool done = app_flow_has(f, app_flow_file(i, "done", address));

  WEIR_TRY(read_lines(f, done ? address : app_flow_file(i, "begun", address), &i->marker));
  i->word = done                                                ? APP_FLOW_DONE
            : app_flow_has(f, app_flow_file(i, "job", address)) ? APP_FLOW_SUBMITTED
                                                                : APP_FLOW_NOT_STARTED;
  WEIR_TRY(read_lines(f, app_flow_file(i, "state", address), &i->state));
  if (i->state.text != NULL) {
    WEIR_TRY(split_state(f, address, i));
  }
  return read_version(f, i);
}

/* The one of this id among those before `end`, or NULL. */
static const app_flow_instance *find(const app_flow *f, int64_t end, const char *id)
{
  for (int64_t i = 0; i < end; i++) {
    if (strcmp(f->instance[i].id, id) == 0) {
      return &f->instance[i];
    }
  }
  return NULL;
}

/* What an instance needs stands before it in the order. */
static const char *find_broken(const app_flow *f, int64_t i)
{
  const app_flow_instance *const own = &f->instance[i];

  for (const char *id = NULL; (id = app_flow_next(&own->plan, "needs", id)) != NULL;) {
    const app_flow_instance *const other = find(f, i, id);

    if (other == NULL || other->word == APP_FLOW_DONE) {
      continue;
    }
    if (other->word == APP_FLOW_FAILED || other->word == APP_FLOW_STOPPED) {
      return id;
    }
    if (other->broken != NULL) {
      return other->broken;
    }
  }
  return NULL;
}

weir_status app_flow_read(const char *dir, app_flow *out)
{
  *out = (app_flow){.dir = dir};
  WEIR_TRY(read_lines(out, "flow/order", &out->order));
  if (out->order.text == NULL) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: there is no flow in this folder, for it has no file flow/order: name the "
                     "folder that was --out of workflows/flow.sh",
                     dir);
  }
  const char *const end = out->order.text + out->order.size;
  int64_t n = 0;

  for (const char *id = out->order.text; id < end; id += strlen(id) + 1) {
    n++;
  }
  if (n == 0 || n > MAX_INSTANCES) {
    return damaged(out, "flow/order", "no step, or too many");
  }
  WEIR_TRY(weir_alloc(n, sizeof *out->instance, (void **)&out->instance));
  for (const char *id = out->order.text; id < end; id += strlen(id) + 1) {
    out->instance[out->n++].id = id;
    WEIR_TRY(read_instance(out, &out->instance[out->n - 1]));
    out->instance[out->n - 1].broken = find_broken(out, out->n - 1);
  }
  return WEIR_OK;
}

void app_flow_fini(app_flow *f)
{
  for (int64_t i = 0; i < f->n; i++) {
    weir_free(&f->instance[i].plan.text);
    weir_free(&f->instance[i].state.text);
    weir_free(&f->instance[i].marker.text);
  }
  weir_free(&f->instance);
  weir_free(&f->order.text);
  f->n = 0;
}

static double seconds_of(const char *utc)
{
  struct tm t = {0};
  const char *const end = strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &t);

  return end != NULL && *end == 0 ? (double)timegm(&t) : NAN;
}

double app_flow_seconds(const app_flow_instance *i)
{
  return seconds_of(i->changed) - seconds_of(i->begun);
}

/* The last bytes of a file, from the start of a line on; ended by 0. */
static int64_t read_end(const char *path, char text[MESSAGE_BYTES + 1])
{
  FILE *const in = fopen(path, "re");
  int64_t n = 0;

  text[0] = 0;
  if (in == NULL) {
    return 0;
  }
  const bool cut = fseek(in, -MESSAGE_BYTES, SEEK_END) == 0;

  if (!cut) {
    rewind(in);
  }
  n = (int64_t)fread(text, 1, MESSAGE_BYTES, in);
  (void)fclose(in);
  text[n] = 0;
  if (cut && strchr(text, '\n') != NULL) {
    const char *const line = strchr(text, '\n') + 1;

    n -= line - text;
    memmove(text, line, (size_t)n + 1);
  }
  return n;
}

weir_status app_flow_read_messages(const app_flow *f, const app_flow_instance *i, char **out)
{
  char path[APP_FLOW_PATH], address[APP_FLOW_PATH], text[MESSAGE_BYTES + 1];
  const char *line[MESSAGES] = {NULL};
  int64_t n = 0;

  WEIR_TRY(weir_path_join(f->dir, app_flow_file(i, "log", address), path, sizeof path));
  (void)read_end(path, text);
  char *rest = text;
  for (char *at; (at = strsep(&rest, "\n")) != NULL;) {
    if (*at != 0 && strncmp(at, "flow: ", strlen("flow: ")) != 0) {
      line[n++ % MESSAGES] = at;
    }
  }
  WEIR_TRY(weir_alloc(MESSAGE_BYTES + MESSAGES + 1, 1, (void **)out));
  for (int64_t k = n > MESSAGES ? n - MESSAGES : 0; k < n; k++) {
    (void)strcat(strcat(*out, line[k % MESSAGES]), "\n");
  }
  return WEIR_OK;
}
