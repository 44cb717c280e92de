/* annotation.c - fuzz target: MIT annotation files. What is accepted obeys the ranges. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static int is_sound(const weir_annotation *a)
{
  return a->code >= 1 && a->code <= WEIR_ANNOTATION_MAX && a->subtype >= -128 &&
         a->subtype <= 127 && a->number >= -128 && a->number <= 127 && a->channel >= 0 &&
         a->channel <= 255 && a->zeros >= 0 &&
         (!a->aux || strlen(a->aux) + (size_t)a->zeros <= WEIR_ANNOTATION_MAX_AUX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_annotations a;
  const weir_status status = weir_annotations_parse(data, (int64_t)size, "fuzz.atr", &a);

  if (status != WEIR_OK && status != WEIR_ERR_DATA) {
    abort();
  }
  reached += status == WEIR_OK && a.count > 0;
  for (int64_t i = 0; i < a.count; i++) {
    if (!is_sound(&a.items[i])) {
      abort();
    }
  }
  for (int64_t i = 0; i < a.n_types; i++) {
    if (!a.types[i].mnemonic || !a.types[i].text || strlen(a.types[i].text) > 255) {
      abort();
    }
  }
  weir_annotations_fini(&a);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
