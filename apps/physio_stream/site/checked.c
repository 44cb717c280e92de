/* checked.c - text that leaves a site, closed by a line with its digest. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "site/site.h"

#define CHECK "{\"event\": \"check\", \"sha256\": \""

enum { LIMIT = 16 << 20 };

weir_status ps_checked_print(const char *text, size_t size, FILE *out)
{
  char digest[65];

  weir_sha256(text, size, digest);
  return fwrite(text, 1, size, out) == size && fprintf(out, CHECK "%s\"}\n", digest) > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "site report: cannot write: %m");
}

weir_status ps_checked_verify(const char *path)
{
  char *text = NULL, digest[65], line[sizeof CHECK + 80];
  int64_t size = 0;
  bool good = false;

  WEIR_TRY(weir_file_read(path, LIMIT, &text, &size));
  char *const last = strstr(text, CHECK);

  if (last != NULL && (last == text || last[-1] == '\n')) {
    weir_sha256(text, (size_t)(last - text), digest);
    (void)snprintf(line, sizeof line, CHECK "%s\"}\n", digest);
    good = strcmp(last, line) == 0;
  }
  weir_free(&text);
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_DATA,
                          "%s: its checksum is not that of its lines: the file was changed or cut "
                          "off; ask the site for it again",
                          path);
}
