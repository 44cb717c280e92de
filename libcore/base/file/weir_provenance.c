/* weir_provenance.c - provenance.json. */
#include "base/weir_provenance.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base_priv.h"
#include "base/weir_clock.h"
#include "weir_build.h"

const char *weir_build_text(void)
{
  return WEIR_BUILD_TEXT;
}

const char *weir_version(void)
{
  return WEIR_BUILD_VERSION;
}

static void put_text(FILE *out, const char *key, const char *value)
{
  fprintf(out, "  \"%s\": ", key);
  base_json_text(out, value);
  fputs(",\n", out);
}

static void put_machine(FILE *out)
{
  struct utsname name;

  if (uname(&name) == 0) {
    put_text(out, "host", name.nodename);
    put_text(out, "system", name.sysname);
    put_text(out, "release", name.release);
    put_text(out, "machine", name.machine);
  }
  fprintf(out, "  \"processors\": %ld,\n", sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_inputs(FILE *out, const weir_provenance *p)
{
  char hex[65];
  int64_t bytes, sum = 0;

  fputs("  \"inputs\": [", out);
  for (int i = 0; i < p->n_inputs; i++) {
    fputs(i > 0 ? ",\n    {\"path\": " : "\n    {\"path\": ", out);
    base_json_text(out, p->inputs[i]);
    if (weir_file_size(p->inputs[i], &bytes) != WEIR_OK) {
      weir_clear_failure();
      bytes = 0;
    }
    sum += bytes;
    if (p->digest_bytes > 0 && sum > p->digest_bytes && bytes > 0) {
      fprintf(out, ", \"bytes\": %" PRId64 "}", bytes);
    } else if (weir_file_sha256(p->inputs[i], hex, &bytes)) {
      fprintf(out, ", \"bytes\": %" PRId64 ", \"sha256\": \"%s\"}", bytes, hex);
    } else {
      fputs(", \"missing\": true}", out);
    }
  }
  fputs(p->n_inputs > 0 ? "\n  ]\n" : "]\n", out);
}

static void put_all(FILE *out, const weir_provenance *p)
{
  char utc[32];

  weir_clock_utc(utc, sizeof utc);
  fputs("{\n", out);
  put_text(out, "program", p->program);
  put_text(out, "version", weir_version());
  put_text(out, "build", weir_build_text());
  put_text(out, "written_utc", utc);
  fputs("  \"command\": [", out);
  for (int i = 0; i < p->argc; i++) {
    fputs(i > 0 ? ", " : "", out);
    base_json_text(out, p->argv[i]);
  }
  fprintf(out, "],\n  \"seed\": %" PRIu64 ",\n  \"threads\": %d,\n", p->seed, p->threads);
  put_machine(out);
  for (int i = 0; i < p->n_lines; i++) {
    put_text(out, p->lines[i].key, p->lines[i].text);
  }
  put_inputs(out, p);
  fputs("}\n", out);
}

weir_status weir_provenance_write(const char *path, const weir_provenance *p)
{
  weir_status status = WEIR_OK;
  weir_writer *w = NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out != NULL) {
    put_all(out, p);
  }
  if (out == NULL || fclose(out) != 0) {
    status = weir_fail(WEIR_ERR_MEMORY, "%s: out of memory for its text", path);
    goto done;
  }
  WEIR_TRY_GOTO(weir_writer_open(path, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, text, size), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
done:
  weir_writer_destroy(&w);
  free(text);
  return status;
}
