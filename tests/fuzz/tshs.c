/* tshs.c - fuzz target: .TSHS of SIESTA. What is accepted names orbitals and atoms that are there.
 */
#include "fuzz_triplets.h"
#include "io/weir_tshs.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check(const weir_tshs *t)
{
  if (t->first[0] != 0 || t->first[t->n_atoms] != t->n_orbitals) {
    abort();
  }
  for (int64_t i = 0; i < t->n_atoms; i++) {
    if (t->first[i + 1] < t->first[i]) {
      abort();
    }
  }
  for (int64_t i = 0; i < t->n_images; i++) {
    fuzz_triplets_check(&t->h[i]);
    fuzz_triplets_check(&t->s[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_tshs t;
  const weir_status status =
      weir_tshs_read(fuzz_folder_write(0, "x.TSHS", data, size), (int64_t)(size & 1), &t);

  if (status == WEIR_OK) {
    check(&t);
  }
  if (status != WEIR_ERR_DATA) { /* past the sizes */
    reached++;
  }
  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED &&
      status != WEIR_ERR_CONFIG) {
    abort();
  }
  weir_tshs_fini(&t);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
