/* backend_text.c - the texts of a device's kernels as files, for whoever wants to read them or to
 * compile them elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "exec/backend/device/backend.h"

/* Ranks and programs may write the same text at once: each under a name of its own first. */
static weir_status write_file(const char *path, const char *text)
{
  char own[4200];
  const size_t size = strlen(text);

  (void)snprintf(own, sizeof own, "%s.XXXXXX", path);
  const int fd = mkstemp(own);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  bool written = file != NULL && fwrite(text, 1, size, file) == size;

  written = (file == NULL || fclose(file) == 0) && written && rename(own, path) == 0;
  if (!written) {
    const int reason = errno;

    if (fd >= 0) {
      (void)unlink(own);
    }
    return weir_write_failed(path, reason, WEIR_ERR_DATA);
  }
  return WEIR_OK;
}

weir_status exec_text_save(const struct exec_backend *b, const weir_device_source *source,
                           int threads)
{
  enum { DIGITS = 16 };
  char head[80], hash[65], path[4096];
  char *text = NULL;
  weir_status status = WEIR_OK;

  if (b->text_dir == NULL) {
    return WEIR_OK;
  }
  (void)snprintf(head, sizeof head, "/* kernel %s, blocks of %d threads */\n", source->name,
                 threads);
  WEIR_TRY(weir_device_source_text(source, head, "__global__", &text));
  weir_sha256(text, strlen(text), hash);
  if (snprintf(path, sizeof path, "%s/%s_%.*s.cu", b->text_dir, source->name, DIGITS, hash) >=
      (int)sizeof path) {
    WEIR_TRY_GOTO(weir_fail(WEIR_ERR_CONFIG, "exec.kernel_dir: %s: too long", b->text_dir), done);
  }
  WEIR_TRY_GOTO(weir_dir_create(b->text_dir), done);
  if (!weir_file_exists(path)) {
    WEIR_TRY_GOTO(write_file(path, text), done);
  }
done:
  weir_free(&text);
  return status;
}
