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
static weir_status write_file(const char *path, const void *data, size_t size)
{
  char own[4200];

  (void)snprintf(own, sizeof own, "%s.XXXXXX", path);
  const int fd = mkstemp(own);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  bool written = file != NULL && fwrite(data, 1, size, file) == size;

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

/* A file named by its content: file[EXEC_TEXT_NAME]. */
static weir_status save(const struct exec_backend *b, const char *name, const char *suffix,
                        const void *data, size_t size, char *file)
{
  enum { DIGITS = 16 };
  char hash[65], path[4096];

  weir_sha256(data, size, hash);
  const int length = snprintf(file, EXEC_TEXT_NAME, "%s_%.*s.%s", name, DIGITS, hash, suffix);

  WEIR_ASSERT(length < EXEC_TEXT_NAME);
  if (snprintf(path, sizeof path, "%s/%s", b->text_dir, file) >= (int)sizeof path) {
    return weir_fail(WEIR_ERR_CONFIG, "exec.kernel_dir: %s: too long", b->text_dir);
  }
  WEIR_TRY(weir_dir_create(b->text_dir));
  WEIR_TRY(weir_file_exists(path) ? WEIR_OK : write_file(path, data, size));
  return WEIR_OK;
}

weir_status exec_text_save(const struct exec_backend *b, const weir_device_source *source,
                           int threads, char *file)
{
  char head[80];
  char *text = NULL;
  weir_status status = WEIR_OK;

  file[0] = '\0';
  if (b->text_dir == NULL) {
    return WEIR_OK;
  }
  (void)snprintf(head, sizeof head, "/* kernel %s, blocks of %d threads */\n", source->name,
                 threads);
  WEIR_TRY(weir_device_source_text(source, head, "__global__", &text));
  WEIR_TRY_GOTO(save(b, source->name, "cu", text, strlen(text), file), done);
done:
  weir_free(&text);
  return status;
}

weir_status exec_call_save(const struct exec_backend *b, const weir_library_spec *spec)
{
  static const char *const names[] = {"product", "convolution", "transform"};
  char file[EXEC_TEXT_NAME];

  if (b->text_dir == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(save(b, names[spec->kind], "call", spec, sizeof *spec, file));
  return WEIR_OK;
}
