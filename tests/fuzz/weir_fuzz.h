/* weir_fuzz.h - what each fuzz target tests/fuzz/<name>.c defines.
 *
 * Two programs are made of it: <name>, with libFuzzer (preset fuzz), and <name>_seeds, with any
 * compiler, which feeds it the files of tests/fuzz/seeds/<name> and fails unless each is decoded.
 */
#ifndef WEIR_FUZZ_H
#define WEIR_FUZZ_H
#include <stddef.h>
#include <stdint.h>

/* Gives one input to the code under test; it may refuse it, but must not crash, leak or hang.
 * Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Inputs so far that got past the headers into decoding. */
int64_t weir_fuzz_reached(void);
#endif
