/* io_priv.h - numbers from text whatever the locale, and checked files: shared by the formats. */
#ifndef WEIR_IO_PRIV_H
#define WEIR_IO_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_annotation.h"
#include "io/file/weir_io_file.h"

/* The whole of text[0, size) as a decimal integer in [lo, hi]; false otherwise. */
bool weir_io_parse_int(const char *text, size_t size, int64_t lo, int64_t hi, int64_t *out);
/* The whole of text[0, size) as a finite decimal number, correctly rounded; no hexadecimal, NaN or
 * infinity. */
bool weir_io_parse_real(const char *text, size_t size, double *out);
/* The whole of text[0, size) as an exact fraction in lowest terms, den > 0; false when it is no
 * decimal number or does not fit. */
bool weir_io_parse_decimal(const char *text, size_t size, int64_t *num, int64_t *den);
/* Divides both by their greatest common divisor; den > 0. */
void weir_io_reduce(int64_t *num, int64_t *den);
/* A number as decimal text, point whatever the locale: 15 digits, or 17 where 15 do not give the
 * same double back. */
void weir_io_real_text(double value, char *text, size_t size);
/* num/den as decimal text. */
void weir_io_rate_text(int64_t num, int64_t den, char *text, size_t size);
/* Bytes of the character of UTF-8 at `at`; 0 where there is none (RFC 3629) or XML 1.0 has no such
 * character (section 2.2), which leaves control characters out. */
int weir_io_character(const char *at);
/* Whole UTC microseconds of a calendar date (proleptic Gregorian) since 1970-01-01; false for an
 * impossible date. */
bool weir_io_date_us(int64_t year, int64_t month, int64_t day, int64_t *us);

/* The calendar date (proleptic Gregorian) of UTC microseconds since 1970-01-01; years 0 to 9999. */
void weir_io_civil_date(int64_t us, int *year, int *month, int *day);

/* A whole regular file of at most `limit` bytes; the caller frees *data with weir_free. Unlike
 * weir_file_read it never waits for a pipe. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_io_read(const char *path, int64_t limit, char **data, int64_t *size) WEIR_CHECKED;

/* weir_annotations_read from memory; `where` is for messages. */
weir_status weir_annotations_parse(const void *data, int64_t size, const char *where,
                                   weir_annotations *out) WEIR_CHECKED;
#endif
