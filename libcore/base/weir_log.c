/* weir_log.c - messages, events and the progress line. */
#include "base/weir_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/base_priv.h"
#include "base/weir_clock.h"
#include "base/weir_lock.h"

enum { LINE_SIZE = 4096, EVENT_RESERVE = 4096 };

/* All but the level and progress_open under the lock. */
static struct {
  weir_lock lock;
  atomic_int level;
  weir_log_sink sink;
  void *context;
  weir_event_listener watcher;
  void *watched;
  FILE *events;
  double events_start;
  off_t events_end;           /* of the last whole line */
  off_t events_reserved;      /* space reserved up to here, where the file system can promise it */
  int events_reason;          /* errno of the first write that failed; 0: none */
  char events_path[PATH_MAX]; /* cut where it is longer: for messages */
  char events_folder[PATH_MAX]; /* with its last slash; "": the working folder */
  atomic_bool progress_open;    /* a progress line without its line end stands on the terminal */
} log_state = {.lock = WEIR_LOCK_INIT, .level = WEIR_LOG_INFO};

/* Of this thread. */
static _Thread_local weir_log_level thread_level = WEIR_LOG_DEBUG;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void weir_log_set_level(weir_log_level level)
{
  atomic_store(&log_state.level, (int)level);
}

weir_status weir_log_level_find(const char *name, weir_log_level *out)
{
  for (int i = 0; i <= WEIR_LOG_DEBUG; i++) {
    if (strcmp(name, level_names[i]) == 0) {
      *out = (weir_log_level)i;
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "unknown log level %s: choose error, warn, info or debug",
                   name);
}

weir_log_level weir_log_set_thread_level(weir_log_level level)
{
  const weir_log_level before = thread_level;

  thread_level = level;
  return before;
}

void weir_log_set_sink(weir_log_sink sink, void *context)
{
  weir_lock_take(&log_state.lock);
  log_state.sink = sink;
  log_state.context = context;
  weir_lock_give(&log_state.lock);
}

static void end_progress_line(void)
{
  if (atomic_exchange(&log_state.progress_open, false)) {
    fputc('\n', stderr);
  }
}

static void write_message(weir_log_level level, const char *module, const char *format,
                          va_list args)
{
  static const char *const labels[] = {"error: ", "warning: ", "", ""};
  char text[LINE_SIZE];

  if ((int)level > atomic_load(&log_state.level) || level > thread_level) {
    return;
  }
  if (vsnprintf(text, sizeof text, format, args) >= LINE_SIZE) {
    memcpy(text + LINE_SIZE - 4, "...", 4);
  }
  weir_lock_take(&log_state.lock);
  const weir_log_sink sink = log_state.sink;
  void *const context = log_state.context;

  weir_lock_give(&log_state.lock);
  if (sink != NULL) {
    sink(context, level, module, text);
    return;
  }
  end_progress_line();
  fprintf(stderr, "%s: %s%s\n", module, labels[level], text);
}

#define MESSAGE_FUNCTION(name, level)                    \
  void name(const char *module, const char *format, ...) \
  {                                                      \
    va_list args;                                        \
                                                         \
    va_start(args, format);                              \
    write_message(level, module, format, args);          \
    va_end(args);                                        \
  }
MESSAGE_FUNCTION(weir_error, WEIR_LOG_ERROR)
MESSAGE_FUNCTION(weir_warn, WEIR_LOG_WARN)
MESSAGE_FUNCTION(weir_info, WEIR_LOG_INFO)
MESSAGE_FUNCTION(weir_debug, WEIR_LOG_DEBUG)

static void take_events(const char *path, FILE *file)
{
  const char *slash = strrchr(path, '/');

  weir_lock_take(&log_state.lock);
  (void)snprintf(log_state.events_folder, sizeof log_state.events_folder, "%.*s",
                 slash == NULL ? 0 : (int)(slash - path) + 1, path);
  (void)snprintf(log_state.events_path, sizeof log_state.events_path, "%s", path);
  log_state.events_end = ftello(file);
  log_state.events_reserved = 0;
  log_state.events_reason = 0;
  log_state.events = file;
  log_state.events_start = weir_clock();
  weir_lock_give(&log_state.lock);
}

weir_status weir_events_open(const char *path)
{
  weir_events_close();
  FILE *file = fopen(path, "we");
  if (file == NULL) {
    return weir_write_failed(path, errno, WEIR_ERR_DATA);
  }
  take_events(path, file);
  return WEIR_OK;
}

/* Bytes up to the end of the last whole line. */
static long whole_lines(FILE *file)
{
  long end = 0;

  for (int c = getc(file); c != EOF; c = getc(file)) {
    end = c == '\n' ? ftell(file) : end;
  }
  return end;
}

weir_status weir_events_append(const char *path)
{
  weir_events_close();
  FILE *file = fopen(path, "r+e");
  if (file == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot open the event file: %m", path);
  }
  const long end = whole_lines(file);

  if (fseek(file, end, SEEK_SET) != 0 || ftruncate(fileno(file), end) != 0) {
    const weir_status status =
        weir_fail(WEIR_ERR_DATA, "%s: cannot append to the event file: %m", path);

    (void)fclose(file);
    return status;
  }
  take_events(path, file);
  return WEIR_OK;
}

void weir_events_close(void)
{
  weir_lock_take(&log_state.lock);
  FILE *file = log_state.events;
  const off_t end = log_state.events_end;

  log_state.events = NULL;
  weir_lock_give(&log_state.lock);
  if (file == NULL) {
    return;
  }
  (void)!ftruncate(fileno(file), end); /* gives back what was reserved */
  if (fclose(file) != 0) {
    weir_warn("base", "%s: the last lines may be lost: %m", log_state.events_path);
  }
}

weir_status weir_events_status(void)
{
  weir_lock_take(&log_state.lock);
  const int reason = log_state.events_reason;

  weir_lock_give(&log_state.lock);
  return reason == 0 ? WEIR_OK : weir_write_failed(log_state.events_path, reason, WEIR_ERR_DATA);
}

static void write_field(FILE *out, const weir_field *field)
{
  base_json_text(out, field->key);
  fputs(": ", out);
  switch (field->kind) {
  case 's':
    base_json_text(out, field->text);
    break;
  case 'i':
    fprintf(out, "%lld", (long long)field->integer);
    break;
  case 'b':
    fputs(field->integer != 0 ? "true" : "false", out);
    break;
  default:
    base_json_real(out, field->real);
  }
}

static void write_line(FILE *out, double time_s, const char *name, const weir_field *fields, int n)
{
  fputs("{\"event\": ", out);
  base_json_text(out, name);
  fprintf(out, ", \"time_s\": %.6f", time_s);
  for (int i = 0; i < n; i++) {
    fputs(", ", out);
    write_field(out, &fields[i]);
  }
  fputs("}\n", out);
}

/* So that the event that tells of a full disk fits. A file system that cannot do this, and one that
 * is full, is no failure. */
static void reserve(int fd)
{
  if (log_state.events_end + EVENT_RESERVE > log_state.events_reserved) {
    log_state.events_reserved = log_state.events_end + 2 * EVENT_RESERVE;
    (void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, log_state.events_end, 2 * EVENT_RESERVE);
  }
}

/* The line reaches the file atomically: a reader may parse the current content. NULL: there was no
 * memory for it. */
static void append(FILE *out, const char *text, size_t size)
{
  size_t done = 0;
  int reason = text == NULL ? ENOMEM : 0;

  while (done < size && reason == 0) {
    const ssize_t put =
        pwrite(fileno(out), text + done, size - done, log_state.events_end + (off_t)done);

    reason = put >= 0 ? 0 : errno == EINTR ? 0 : errno;
    done += put > 0 ? (size_t)put : 0;
  }
  if (reason == 0) {
    log_state.events_end += (off_t)size;
    reserve(fileno(out));
    return;
  }
  log_state.events_reason = log_state.events_reason == 0 ? reason : log_state.events_reason;
  (void)!ftruncate(fileno(out), log_state.events_end);
}

void weir_events_subscribe(weir_event_listener watcher, void *context)
{
  weir_lock_take(&log_state.lock);
  log_state.watched = context;
  log_state.watcher = watcher;
  weir_lock_give(&log_state.lock);
}

static void write_event(FILE *out, double time_s, const char *name, const weir_field *fields, int n)
{
  char *text = NULL;
  size_t size = 0;
  FILE *line = open_memstream(&text, &size);

  if (line != NULL) {
    write_line(line, time_s, name, fields, n);
  }
  const bool made = line != NULL && fclose(line) == 0;

  weir_lock_take(&log_state.lock);
  if (log_state.events == out) { /* another thread may have closed it */
    append(out, made ? text : NULL, size);
  }
  weir_lock_give(&log_state.lock);
  free(text);
}

void weir_event_fields(const char *name, const weir_field *fields, int n)
{
  if (thread_level < WEIR_LOG_INFO) {
    return;
  }
  weir_lock_take(&log_state.lock);
  FILE *const out = log_state.events;
  const double start = log_state.events_start;
  const weir_event_listener watcher = log_state.watcher;
  void *const watched = log_state.watched;

  weir_lock_give(&log_state.lock);
  if (watcher != NULL) { /* without the lock: it may log */
    watcher(watched, name, fields, n);
  }
  if (out != NULL) {
    write_event(out, weir_clock() - start, name, fields, n);
  }
}

void base_event_file(const char *path)
{
  weir_lock_take(&log_state.lock);
  const size_t n = strlen(log_state.events_folder);
  const bool inside =
      log_state.events != NULL && strncmp(path, log_state.events_folder, n) == 0 && path[n] != '/';

  weir_lock_give(&log_state.lock);
  if (inside) {
    weir_event("file", WEIR_TEXT("name", path + n));
  }
}

/* State of one progress line; a new `what` or a smaller `done` starts another. */
static struct {
  char what[64];
  int64_t done;
  double start, shown;
} progress;
static weir_lock progress_lock = WEIR_LOCK_INIT;

static void print_progress(const char *what, int64_t done, int64_t total, const char *unit,
                           double seconds)
{
  const bool terminal = isatty(STDERR_FILENO) == 1;
  char rest[64] = "";
  char line[256];

  if (total > 0 && done > 0 && done < total) {
    const double left = seconds * (double)(total - done) / (double)done;
    snprintf(rest, sizeof rest, ", %.0f s left", left);
  } else if (done == total) {
    snprintf(rest, sizeof rest, ", %.1f s", seconds);
  }
  if (total > 0) {
    snprintf(line, sizeof line, "%s: %lld of %lld %s (%.0f %%)%s", what, (long long)done,
             (long long)total, unit, 100.0 * (double)done / (double)total, rest);
  } else {
    snprintf(line, sizeof line, "%s: %lld %s%s", what, (long long)done, unit, rest);
  }
  if (terminal) {
    fprintf(stderr, "\r\033[K%s%s", line, done == total ? "\n" : "");
    atomic_store(&log_state.progress_open, done != total);
  } else {
    fprintf(stderr, "%s\n", line);
  }
}

void weir_progress(const char *what, int64_t done, int64_t total, const char *unit)
{
  const double now = weir_clock();
  const double interval = isatty(STDERR_FILENO) == 1 ? 0.1 : 60.0;
  double start;
  bool show;

  if (atomic_load(&log_state.level) < WEIR_LOG_INFO || thread_level < WEIR_LOG_INFO) {
    return;
  }
  weir_lock_take(&progress_lock);
  if (strncmp(progress.what, what, sizeof progress.what - 1) != 0 || done < progress.done ||
      progress.start == 0) {
    snprintf(progress.what, sizeof progress.what, "%s", what);
    progress.start = now;
    progress.shown = now;
  }
  progress.done = done;
  show = done == total || now - progress.shown >= interval;
  if (show) {
    progress.shown = now;
  }
  start = progress.start;
  if (done == total) {
    progress.start = 0;
  }
  weir_lock_give(&progress_lock);
  if (show) {
    print_progress(what, done, total, unit, now - start);
  }
}
