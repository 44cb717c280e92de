/* weir_status.c - the failure record of each thread. */
#include "base/weir_status.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048, MAX_FRAMES = 24 };

struct frame {
  const char *file, *function;
  int line;
};

/* Fixed size, so that reporting that memory is exhausted needs none. */
static _Thread_local struct record {
  weir_status code;
  int n_frames, n_lost; /* frames kept, and those beyond MAX_FRAMES */
  struct frame frames[MAX_FRAMES];
  const char *option; /* avoids the failure, or NULL */
  char message[MESSAGE_SIZE];
} record;

weir_status weir_fail_at(weir_status code, const char *file, int line, const char *function,
                         const char *format, ...)
{
  char text[MESSAGE_SIZE]; /* an argument may be weir_last_message() itself */
  va_list args;

  va_start(args, format);
  const int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length >= MESSAGE_SIZE) {
    memcpy(text + MESSAGE_SIZE - 4, "...", 4);
  }
  memcpy(record.message, text, sizeof text);
  record.code = code;
  record.option = NULL;
  record.n_lost = 0;
  record.n_frames = 1;
  record.frames[0] = (struct frame){file, function, line};
  return code;
}

weir_status weir_fail_option(weir_status code, const char *option)
{
  record.option = option;
  return code;
}

weir_status weir_trace_at(weir_status code, const char *file, int line, const char *function)
{
  if (record.code != code) {
    /* A status that came without weir_fail, such as one agreed between ranks. */
    return weir_fail_at(code, file, line, function, "%s", weir_status_text(code));
  }
  if (record.n_frames < MAX_FRAMES) {
    record.frames[record.n_frames++] = (struct frame){file, function, line};
  } else {
    record.n_lost++;
  }
  return code;
}

void weir_assert_failed(const char *condition, const char *file, int line)
{
  fprintf(stderr, "%s:%d: assertion failed: %s (a mistake in Weir; please report it)\n", file, line,
          condition);
  abort();
}

const char *weir_last_message(void)
{
  return record.message;
}

const char *weir_last_option(void)
{
  return record.option != NULL ? record.option : "";
}

const char *weir_status_text(weir_status code)
{
  switch (code) {
#define X(name, value, text) \
  case name:                 \
    return text;
    WEIR_STATUS_LIST(X)
#undef X
  }
  return "unknown status";
}

void weir_print_failure(FILE *out)
{
  if (record.code != WEIR_OK) {
    fprintf(out, "error: %s\n  (%s)\n", record.message, weir_status_text(record.code));
  }
}

void weir_print_trace(FILE *out)
{
  weir_print_failure(out);
  for (int i = 0; i < record.n_frames; i++) {
    const struct frame *f = &record.frames[i];
    fprintf(out, "  %s %s (%s:%d)\n", i == 0 ? "in" : "called by", f->function, f->file, f->line);
  }
  if (record.n_lost > 0) {
    fprintf(out, "  and %d more callers\n", record.n_lost);
  }
}

void weir_clear_failure(void)
{
  record.code = WEIR_OK;
  record.option = NULL;
  record.n_frames = 0;
  record.n_lost = 0;
  record.message[0] = 0;
}
