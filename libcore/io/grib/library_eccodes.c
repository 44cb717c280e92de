/* library_eccodes.c - see eccodes_priv.h. ecCodes prints what it finds and aborts where one of its
 * assertions fails; both go through its own hooks here. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_lock.h"
#include "io/grib/eccodes_priv.h"

static struct {
  weir_lock lock;
  bool ready, broken;
  char said[160]; /* since the last weir_grib_alone */
  jmp_buf out;
} library = {.lock = WEIR_LOCK_INIT};

bool weir_grib_available(void)
{
  return true;
}

static void hear(const codes_context *context, int level, const char *text)
{
  (void)context;
  if (level == CODES_LOG_ERROR || level == CODES_LOG_FATAL) {
    snprintf(library.said, sizeof library.said, "%s", text);
    library.said[strcspn(library.said, "\n")] = 0;
  }
}

static void leave(const char *text)
{
  hear(NULL, CODES_LOG_FATAL, text);
  longjmp(library.out, 1);
}

weir_status weir_grib_alone(weir_status (*work)(void *context), void *context)
{
  volatile weir_status status = WEIR_OK;

  weir_lock_take(&library.lock);
  if (!library.ready) {
    codes_context_set_logging_proc(codes_context_get_default(), hear);
    codes_set_codes_assertion_failed_proc(leave);
    library.ready = true;
  }
  if (!library.broken) {
    library.said[0] = 0;
    if (setjmp(library.out) == 0) {
      status = work(context);
    } else {
      library.broken = true;
    }
  }
  if (library.broken) {
    status = weir_fail(WEIR_ERR_EXTERNAL, "ecCodes failed and cannot be used any more: %s",
                       library.said);
  }
  weir_lock_give(&library.lock);
  return status;
}

const char *weir_grib_reason(int code, char text[256])
{
  snprintf(text, 256, "%s%s%s", codes_get_error_message(code), library.said[0] ? ": " : "",
           library.said);
  return text;
}
