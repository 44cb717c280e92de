/* matrix_files.c FILE [SPIN] - prints the matrices of a file for beside_scipy.py to compare: of a
 * .TSHS those of the Hamiltonian and of the overlap by image, else the only one. A line an element:
 * matrix, image, row, column, real and imaginary part. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/weir_triplets.h"
#include "io/weir_tshs.h"

static void print(char name, const int64_t image[3], const weir_triplets *t)
{
  printf("%c %" PRId64 " %" PRId64 "\n", name, t->rows, t->columns);
  for (int64_t i = 0; i < t->count; i++) {
    const weir_triplet *const e = &t->item[i];

    printf("%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.17g %.17g\n", name,
           image[0], image[1], image[2], e->row, e->column, e->value.re, e->value.im);
  }
}

static weir_status print_tshs(const char *path, int64_t spin)
{
  weir_tshs t;

  WEIR_TRY(weir_tshs_read(path, spin, &t));
  for (int64_t i = 0; i < t.n_images; i++) {
    print('h', t.image[i], &t.h[i]);
    print('s', t.image[i], &t.s[i]);
  }
  weir_tshs_fini(&t);
  return WEIR_OK;
}

static weir_status print_matrix(const char *path)
{
  weir_triplets t;

  WEIR_TRY(weir_triplets_read(path, &t));
  print('m', (const int64_t[]){0, 0, 0}, &t);
  weir_triplets_fini(&t);
  return WEIR_OK;
}

int main(int argc, char **argv)
{
  const int64_t spin = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;

  if (argc < 2) {
    return EXIT_FAILURE;
  }
  const weir_status status =
      weir_tshs_is(argv[1]) ? print_tshs(argv[1], spin) : print_matrix(argv[1]);

  if (status != WEIR_OK) {
    weir_print_trace(stderr);
  }
  return (int)status;
}
