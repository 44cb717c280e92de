/* weir_decimal.h - numbers as "%.9g" and "%.6f" of printf write them, with a point in every locale,
 * at a fraction of its price for usual values. Nine digits tell every float. */
#ifndef WEIR_DECIMAL_H
#define WEIR_DECIMAL_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* What any double takes, with the 0 that ends it. */
#define WEIR_DECIMAL_SIZE 320

/* Both write a text that ends with 0, and return its length. */
size_t weir_decimal_nine(double x, char text[WEIR_DECIMAL_SIZE]);
size_t weir_decimal_micro(double x, char text[WEIR_DECIMAL_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
