/* triplets.c - fuzz target: a matrix of any format, recognised by its first bytes. */
#include "fuzz_triplets.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  reached += fuzz_triplets_read(data, size, weir_triplets_read);
  return 0;
}
