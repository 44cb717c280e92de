/* wannier.c - fuzz target: Hamiltonians of Wannier90. Up to the first NUL the bytes are seed_hr.dat
 * (or, where they begin with "tb", seed_tb.dat), up to the second seed_wsvec.dat, up to the third
 * seed_centres.xyz, then seed.win. What is accepted is finite and in order. */
#include <math.h>
#include "base/weir_alloc.h"
#include "fuzz_folder.h"
#include "io/weir_wannier.h"
#include "weir_fuzz.h"

enum { PARTS = 4 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check(const weir_wannier *w)
{
  for (int64_t i = 0; i < w->n_r; i++) {
    const int64_t minus[3] = {-w->r[i][0], -w->r[i][1], -w->r[i][2]};

    if (weir_wannier_find(w, w->r[i]) != i || weir_wannier_find(w, minus) < 0) {
      abort();
    }
  }
  for (int64_t i = 0; i < w->n_r * w->n * w->n; i++) {
    if (isnan(w->h[i].re) || isnan(w->h[i].im)) {
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static weir_status (*const read[PARTS])(const char *, weir_wannier *) = {
      weir_wannier_read_hr, weir_wannier_read_shifts, weir_wannier_read_centres,
      weir_wannier_read_win};
  static const uint8_t empty;
  const int64_t before = weir_alloc_bytes();
  const bool tb = size > 2 && memcmp(data, "tb", 2) == 0;
  weir_wannier w = {.n = 0};
  weir_status status = WEIR_OK;
  int part = 0;

  for (; part < PARTS && status == WEIR_OK; part++) {
    const uint8_t *const end = size ? memchr(data, 0, size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    const char *const path = fuzz_folder_write(part, "x.dat", length ? data : &empty, length);

    status = part == 0 && tb ? weir_wannier_read_tb(path, &w) : read[part](path, &w);
    if (status == WEIR_OK) {
      check(&w);
    } else if (status != WEIR_ERR_DATA && status != WEIR_ERR_MEMORY) {
      abort();
    }
    data += end ? length + 1 : length;
    size -= end ? length + 1 : length;
    if (!end) {
      break;
    }
  }
  reached += status == WEIR_OK;
  weir_wannier_fini(&w);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
