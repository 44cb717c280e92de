/* weir_decimal.h - floats as the shortest decimals, and numbers as "%.6f" of printf writes them,
 * with a point in every locale, at a fraction of the cost of printf for usual values. Doubles:
 * weir_number_text. */
#ifndef WEIR_DECIMAL_H
#define WEIR_DECIMAL_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of the longest texts of a double and of a float, with the final 0. */
#define WEIR_DECIMAL_SIZE 320
#define WEIR_DECIMAL_FLOAT_SIZE 24

/* Both write a text with a final 0 and return its length. */
/* Writes the fewest digits, at most nine, that read back as the same float; without exponent from
 * 1e-4 to 1e9. */
size_t weir_decimal_float(float x, char text[WEIR_DECIMAL_FLOAT_SIZE]);
size_t weir_decimal_micro(double x, char text[WEIR_DECIMAL_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
