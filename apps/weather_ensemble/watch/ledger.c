/* ledger.c - see ledger.h. Lines are CSV (RFC 4180) without line ends in a text. */
#include "watch/ledger.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"

enum { TIME, STATE, FILE_NAME, BYTES, VERSION, DIGEST, RESULT, DETAIL, COLUMNS };
enum { STATES = WX_INPUT_CHANGED + 1 };

static const char head[] = "time_utc,state,file,bytes,version,sha256,result,detail\n";
static const int64_t max_bytes = (int64_t)1 << 30;

const char *const wx_input_state_name[] = {"started", "done", "failed", "duplicate", "changed"};

struct wx_ledger {
  char *path;
  int fd;
  int64_t n, capacity;
  wx_ledger_entry *entry; /* [n]; each owns one block of texts, at `file` */
};

/* ---- Reading ---- */

/* Cuts the next text out of a line, in place: false where a quote is not closed. */
static bool next_text(char **at, char **text)
{
  char *from = *at, *to = *at;
  const bool quoted = *from == '"';

  *text = to;
  if (!quoted) {
    from += strcspn(from, ",");
  } else {
    for (from++; *from != 0 && (*from != '"' || from[1] == '"'); from++) {
      from += *from == '"';
      *to++ = *from;
    }
    if (*from != '"') {
      return false;
    }
    *to = 0;
    from++;
  }
  if (*from != ',' && *from != 0) {
    return false;
  }
  *at = *from == ',' ? from + 1 : NULL;
  *from = 0;
  return true;
}

static bool is_digest(const char *text)
{
  return text[0] == 0 || (strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64);
}

/* The entry of a line; its texts are those of the line, which is cut. */
static bool parse(char *line, wx_ledger_entry *out)
{
  char *text[COLUMNS], *at = line, *end = NULL;

  for (int k = 0; k < COLUMNS; k++) {
    if (at == NULL || !next_text(&at, &text[k])) {
      return false;
    }
  }
  out->bytes = strtoll(text[BYTES], &end, 10);
  if (at != NULL || end == text[BYTES] || *end != 0 || out->bytes < 0 || !is_digest(text[DIGEST]) ||
      strchr(text[RESULT], '/') != NULL) {
    return false;
  }
  int state = 0;

  while (state < STATES && strcmp(wx_input_state_name[state], text[STATE]) != 0) {
    state++;
  }
  out->state = (wx_input_state)state;
  out->file = text[FILE_NAME];
  out->version = text[VERSION];
  out->digest = text[DIGEST];
  out->result = text[RESULT];
  out->detail = text[DETAIL];
  return state < STATES;
}

/* Appends a copy of the entry. */
static weir_status keep(wx_ledger *l, const wx_ledger_entry *e)
{
  const char *const text[] = {e->file, e->version, e->digest, e->result, e->detail};
  char *copy[5], *block = NULL;
  size_t size = 0;

  for (int k = 0; k < 5; k++) {
    size += strlen(text[k]) + 1;
  }
  WEIR_TRY(weir_reserve(&l->entry, &l->capacity, l->n + 1, sizeof *l->entry));
  WEIR_TRY(weir_alloc((int64_t)size, 1, (void **)&block));
  for (int k = 0; k < 5; k++) {
    copy[k] = strcpy(block, text[k]);
    block += strlen(block) + 1;
  }
  l->entry[l->n++] = (wx_ledger_entry){.state = e->state,
                                       .file = copy[0],
                                       .version = copy[1],
                                       .digest = copy[2],
                                       .result = copy[3],
                                       .detail = copy[4],
                                       .bytes = e->bytes};
  return WEIR_OK;
}

/* The lines of the file; *whole: bytes of those that have their end. */
static weir_status take_lines(wx_ledger *l, char *text, int64_t size, int64_t *whole)
{
  int64_t number = 0;

  *whole = 0;
  for (char *line = text, *end = NULL; (end = memchr(line, '\n', (size_t)(text + size - line)));
       line = end + 1) {
    wx_ledger_entry e;

    *end = 0;
    number++;
    *whole = end + 1 - text;
    const bool good =
        number == 1 ? strncmp(line, head, sizeof head - 2) == 0 && strlen(line) == sizeof head - 2
                    : strlen(line) == (size_t)(end - line) && parse(line, &e);

    if (!good) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%lld: no line of a ledger: repair it, or choose another --out", l->path,
                       (long long)number);
    }
    WEIR_TRY(number > 1 ? keep(l, &e) : WEIR_OK);
  }
  return WEIR_OK;
}

static weir_status take_file(wx_ledger *l)
{
  char *text = NULL;
  int64_t size = 0, whole = 0;

  WEIR_TRY(weir_file_read(l->path, max_bytes, &text, &size));
  const weir_status status = take_lines(l, text, size, &whole);

  weir_free(&text);
  WEIR_TRY(status);
  if (whole < size) {
    weir_warn("predict", "%s: its last line was not finished: it is removed", l->path);
    if (ftruncate(l->fd, (off_t)whole) != 0) {
      return weir_write_failed(l->path, errno, WEIR_ERR_DATA);
    }
  }
  return WEIR_OK;
}

/* ---- Writing ---- */

/* A line, whole and on the disk, or nothing. */
static weir_status put(wx_ledger *l, const char *line)
{
  const size_t n = strlen(line);
  const off_t before = lseek(l->fd, 0, SEEK_END);
  const ssize_t done = write(l->fd, line, n);

  if (done == (ssize_t)n && fdatasync(l->fd) == 0) {
    return WEIR_OK;
  }
  const int reason = done >= 0 && done < (ssize_t)n ? ENOSPC : errno;

  if (before >= 0) {
    (void)(ftruncate(l->fd, before) == 0);
  }
  return weir_write_failed(l->path, reason, WEIR_ERR_DATA);
}

/* Appends a text in quotes where it needs them. */
static char *quote(char *to, const char *text)
{
  const bool quotes = strpbrk(text, ",\"\r\n") != NULL;

  if (quotes) {
    *to++ = '"';
  }
  for (; *text != 0; text++) {
    if (*text == '"') {
      *to++ = '"';
    }
    *to++ = (char)(*text == '\n' || *text == '\r' ? ' ' : *text);
  }
  if (quotes) {
    *to++ = '"';
  }
  return to;
}

weir_status wx_ledger_add(wx_ledger *l, const wx_ledger_entry *e)
{
  char now[80], bytes[32], *line = NULL;
  size_t size = 0;

  weir_clock_utc(now, sizeof now);
  (void)snprintf(bytes, sizeof bytes, "%lld", (long long)e->bytes);
  const char *const text[COLUMNS] = {
      now,      wx_input_state_name[e->state], e->file, bytes, e->version, e->digest, e->result,
      e->detail};

  for (int k = 0; k < COLUMNS; k++) {
    size += 2 * strlen(text[k]) + 4;
  }
  WEIR_TRY(weir_alloc((int64_t)size, 1, (void **)&line));
  char *to = line;

  for (int k = 0; k < COLUMNS; k++) {
    to = quote(to, text[k]);
    *to++ = (char)(k + 1 < COLUMNS ? ',' : '\n');
  }
  *to = 0;
  weir_status status = put(l, line);

  weir_free(&line);
  if (status == WEIR_OK) {
    status = keep(l, e);
  }
  return status;
}

weir_status wx_ledger_open(const char *path, wx_ledger **out)
{
  wx_ledger *l = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *l, (void **)&l));
  l->fd = -1;
  WEIR_TRY_GOTO(weir_strdup(path, &l->path), done);
  l->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (l->fd < 0) {
    status = weir_write_failed(path, errno, WEIR_ERR_DATA);
    goto done;
  }
  WEIR_TRY_GOTO(take_file(l), done);
  if (lseek(l->fd, 0, SEEK_END) == 0) {
    WEIR_TRY_GOTO(put(l, head), done);
  }
  *out = l;
  return WEIR_OK;
done:
  wx_ledger_close(&l);
  return status;
}

void wx_ledger_close(wx_ledger **l)
{
  if (*l == NULL) {
    return;
  }
  for (int64_t i = 0; i < (*l)->n; i++) {
    void *block = (void *)(uintptr_t)(*l)->entry[i].file;

    weir_free(&block);
  }
  if ((*l)->fd >= 0) {
    (void)close((*l)->fd);
  }
  weir_free(&(*l)->entry);
  weir_free(&(*l)->path);
  weir_free(l);
}

/* ---- Questions ---- */

const wx_ledger_entry *wx_ledger_find_file(const wx_ledger *l, const char *file,
                                           const char *version)
{
  for (int64_t i = l->n - 1; i >= 0; i--) {
    if (strcmp(l->entry[i].version, version) == 0 && strcmp(l->entry[i].file, file) == 0) {
      return &l->entry[i];
    }
  }
  return NULL;
}

static bool is_of(const wx_ledger_entry *e, const char *digest)
{
  return e->state != WX_INPUT_DUPLICATE && digest[0] != 0 && strcmp(e->digest, digest) == 0;
}

const wx_ledger_entry *wx_ledger_find_content(const wx_ledger *l, const char *digest)
{
  for (int64_t i = l->n - 1; i >= 0; i--) {
    if (is_of(&l->entry[i], digest)) {
      return &l->entry[i];
    }
  }
  return NULL;
}

int64_t wx_ledger_starts(const wx_ledger *l, const char *digest)
{
  int64_t n = 0;

  for (int64_t i = l->n - 1; i >= 0; i--) {
    if (is_of(&l->entry[i], digest)) {
      if (l->entry[i].state != WX_INPUT_STARTED) {
        break;
      }
      n++;
    }
  }
  return n;
}

int64_t wx_ledger_failures(const wx_ledger *l)
{
  int64_t n = 0;

  for (int64_t i = 0; i < l->n; i++) {
    n += l->entry[i].state == WX_INPUT_FAILED &&
         wx_ledger_find_content(l, l->entry[i].digest) == &l->entry[i];
  }
  return n;
}
