/* weir_number.h - conversion between numbers and text, independent of the locale. */
#ifndef WEIR_NUMBER_H
#define WEIR_NUMBER_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Reason why a text is not the requested number; the whole text must be the number. */
typedef enum weir_number_result {
  WEIR_NUMBER_OK,
  WEIR_NUMBER_NOT,      /* does not begin with a number, or a leading zero that YAML reads octal */
  WEIR_NUMBER_TRAILING, /* a number with characters after it                                    */
  WEIR_NUMBER_FRACTION, /* an integer was requested, the text is a real number */
  WEIR_NUMBER_BIG,      /* beyond int64_t, or beyond the largest double                         */
  WEIR_NUMBER_SMALL,    /* not zero, yet below the smallest double                              */
  WEIR_NUMBER_NOT_FINITE, /* nan, inf                                                             */
  WEIR_NUMBER_INEXACT     /* an integer that a double cannot represent, such as 2^53 + 1 */
} weir_number_result;

/* Reads a decimal integer with an optional sign. *out is unchanged unless the result is
 * WEIR_NUMBER_OK. */
weir_number_result weir_number_int(const char *text, int64_t *out);
/* Reads a decimal number with '.', optional exponent. *out is unchanged unless the result is
 * WEIR_NUMBER_OK. */
weir_number_result weir_number_real(const char *text, double *out);
/* Returns the reason as words that follow the text: "12abc" + " has characters after the number".
 */
const char *weir_number_reason(weir_number_result result);
/* Writes the shortest decimal text that weir_number_real reads back to the same bits; 32 bytes
 * suffice. Not for NaN and infinities, which are written as "nan", "inf", "-inf". */
void weir_number_text(double value, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
