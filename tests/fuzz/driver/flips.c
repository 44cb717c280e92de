/* flips.c - damages seeds of one fuzz target: flips COUNT FILE... gives it COUNT inputs, the files
 * in turn with one to four bytes changed, at places of a generator with a fixed seed. It ends by
 * itself where no input ends it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_random.h"
#include "weir_fuzz.h"

enum { SEED_BYTES = 1 << 20, SEED = 15, STREAM = 9 };

static size_t read_seed(const char *path, uint8_t *out)
{
  FILE *const in = fopen(path, "rb");
  const size_t size = in ? fread(out, 1, SEED_BYTES, in) : 0;

  if (in) {
    (void)fclose(in);
  }
  return size;
}

int main(int argc, char **argv)
{
  static uint8_t seed[SEED_BYTES];
  const long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;

  for (long i = 0; i < count; i++) {
    const size_t size = read_seed(argv[2 + i % (argc - 2)], seed);
    uint8_t *const data = malloc(size ? size : 1);
    const uint64_t bits = weir_random_bits(SEED, STREAM, 0, (uint64_t)i);

    if (size == 0 || !data) {
      fprintf(stderr, "%s cannot be read\n", argv[2 + i % (argc - 2)]);
      return EXIT_FAILURE;
    }
    memcpy(data, seed, size);
    for (uint32_t k = 0; k <= bits % 8 % 4; k++) {
      const uint64_t where = weir_random_bits(SEED, STREAM, 1 + k, (uint64_t)i);

      data[where % size] ^= (uint8_t)(1 + (where >> 32) % 255);
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
  }
  printf("%s: %ld damaged inputs, %lld of them read\n", argv[0], count,
         (long long)weir_fuzz_reached());
  return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
