/* npy.c - fuzz target: an array of NumPy; what a header says is in the file, or refused. */
#include "base/weir_alloc.h"
#include "fuzz_folder.h"
#include "io/weir_npy.h"
#include "weir_fuzz.h"

enum { MOST = 1 << 20 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static _Alignas(8) char values[MOST];
  const int64_t before = weir_alloc_bytes();
  weir_npy *a = NULL;
  int64_t n = 1;
  const weir_status status = weir_npy_open(fuzz_folder_write(0, "x.npy", data, size), &a);

  if (status != WEIR_OK && status != WEIR_ERR_DATA) {
    abort();
  }
  if (status == WEIR_OK) {
    const weir_npy_shape *const s = weir_npy_get(a);

    for (int d = 0; d < s->n_dims; d++) {
      if (!weir_mul_ok(n, s->lengths[d], &n)) {
        abort();
      }
    }
    if (n * (int64_t)weir_dtype_size(s->dtype) > (int64_t)size) {
      abort(); /* it was compared with its bytes */
    }
    reached += n <= MOST / 8 && weir_npy_read(a, 0, n, values) == WEIR_OK;
  }
  weir_npy_close(&a);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
