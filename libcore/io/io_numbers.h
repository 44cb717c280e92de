/* io_numbers.h - text files of numbers, word by word, with refusals that name file and line. */
#ifndef WEIR_IO_NUMBERS_H
#define WEIR_IO_NUMBERS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/csv/csv_priv.h"

typedef struct weir_io_numbers {
  weir_csv_lines lines;
  weir_csv_field rest; /* of the current line */
  bool flows;          /* numbers continue in the next line, as Fortran reads them */
} weir_io_numbers;

/* Opens a file; lines.path borrows `path`. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY; *out is then
 * NULL. */
weir_status weir_io_numbers_open(const char *path, weir_io_numbers **out) WEIR_CHECKED;
/* Accepts NULL. */
void weir_io_numbers_close(weir_io_numbers **n);

/* Records "path:line: why" with the code WEIR_ERR_DATA, and returns it. */
weir_status weir_io_numbers_refuse(const weir_io_numbers *n, const char *why, ...) WEIR_CHECKED
    WEIR_PRINTF(2, 3);
/* Goes to the next line, blank or not; to the next that is not blank. `what` is expected there.
 * Fails: WEIR_ERR_DATA (the file ends before). */
weir_status weir_io_numbers_line(weir_io_numbers *n, const char *what) WEIR_CHECKED;
weir_status weir_io_numbers_row(weir_io_numbers *n, const char *what) WEIR_CHECKED;
/* The latter, where there may be none. */
weir_status weir_io_numbers_next(weir_io_numbers *n, bool *found) WEIR_CHECKED;
/* True where the line has no further word. */
bool weir_io_numbers_at_end(weir_io_numbers *n);
/* The next word; *found is false at the end of the line, where numbers flow at that of the file.
 * Borrowed until the next line. Fails: WEIR_ERR_DATA. */
weir_status weir_io_numbers_word(weir_io_numbers *n, weir_csv_field *out, bool *found) WEIR_CHECKED;
/* The next word as an integer of [lo, hi], or as a finite number (exponents with E or D). Fails:
 * WEIR_ERR_DATA, naming `what`. */
weir_status weir_io_numbers_int(weir_io_numbers *n, const char *what, int64_t lo, int64_t hi,
                                int64_t *out) WEIR_CHECKED;
weir_status weir_io_numbers_real(weir_io_numbers *n, const char *what, double *out) WEIR_CHECKED;
/* Refuses further words of this line; of this line and any other. */
weir_status weir_io_numbers_row_end(weir_io_numbers *n) WEIR_CHECKED;
weir_status weir_io_numbers_end(weir_io_numbers *n) WEIR_CHECKED;
/* Refuses a count of items of at least `bytes` bytes each that the rest of the file cannot hold. */
weir_status weir_io_numbers_claim(const weir_io_numbers *n, const char *what, int64_t count,
                                  int64_t bytes) WEIR_CHECKED;
#endif
