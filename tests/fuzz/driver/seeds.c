/* seeds.c - feeds the files named on the command line to one fuzz target; each must be decoded. */
#include "weir_fuzz.h"
#include <stdio.h>
#include <stdlib.h>

enum { SEED_BYTES = 1 << 20 };

/* Returns 1 when the file's bytes were decoded. */
static int feed(const char *path)
{
  FILE *in = fopen(path, "rb");
  if (!in) {
    perror(path);
    return 0;
  }
  /* A block of the exact size, so that the sanitizers see a read past its end. */
  unsigned char *block = malloc(SEED_BYTES);
  const size_t size = block ? fread(block, 1, SEED_BYTES, in) : 0;
  unsigned char *data = block ? realloc(block, size ? size : 1) : NULL;
  fclose(in);
  if (!data) {
    fprintf(stderr, "%s: out of memory\n", path);
    free(block);
    return 0;
  }
  const int64_t before = weir_fuzz_reached();
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  if (weir_fuzz_reached() > before) {
    return 1;
  }
  fprintf(stderr, "%s: does not reach the decoder\n", path);
  return 0;
}

int main(int argc, char **argv)
{
  int decoded = 0;

  for (int i = 1; i < argc; i++) {
    decoded += feed(argv[i]);
  }
  printf("%s: %d of %d seeds decoded\n", argv[0], decoded, argc - 1);
  return argc > 1 && decoded == argc - 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
