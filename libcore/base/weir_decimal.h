/* weir_decimal.h - numbers as "%.9g" and "%.6f" of printf write them, with a point in every locale,
 * at a fraction of its cost for usual values. Nine digits identify every float. */
#ifndef WEIR_DECIMAL_H
#define WEIR_DECIMAL_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Size of the longest text of a double, with the final 0. */
#define WEIR_DECIMAL_SIZE 320

/* Both write a text with a final 0 and return its length. */
size_t weir_decimal_nine(double x, char text[WEIR_DECIMAL_SIZE]);
size_t weir_decimal_micro(double x, char text[WEIR_DECIMAL_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
