/* checksums.c - fuzz target: lists of SHA-256. A digest that is found has 64 hexadecimal digits. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "data/checksums.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char hex[65] = "";
  bool found = false;
  const weir_status status =
      ps_checksums_find((const char *)data, (int64_t)size, "list", "100.dat", hex, &found);

  if ((status != WEIR_OK && status != WEIR_ERR_DATA) ||
      (found && strspn(hex, "0123456789abcdefABCDEF") != 64)) {
    abort();
  }
  reached += status == WEIR_OK && found;
  return 0;
}
