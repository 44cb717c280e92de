/* backend_text.c - the texts of a device's kernels as files, for whoever wants to read them or to
 * compile them elsewhere. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "exec/backend/device/backend.h"

static weir_status write_file(const char *path, const char *text)
{
  weir_writer *w = NULL;
  weir_status status = weir_writer_open(path, &w);

  if (status == WEIR_OK) {
    status = weir_writer_write(w, text, strlen(text));
  }
  if (status == WEIR_OK) {
    status = weir_writer_commit_passing(&w);
  }
  weir_writer_destroy(&w);
  return status;
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
