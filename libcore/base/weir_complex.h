/* weir_complex.h - complex numbers: two reals, the real part first, as C, C++, Fortran and CUDA
 * hold them. Structs, so that headers that use them stay valid C++. */
#ifndef WEIR_COMPLEX_H
#define WEIR_COMPLEX_H

typedef struct weir_c64 {
  float re, im;
} weir_c64;
typedef struct weir_c128 {
  double re, im;
} weir_c128;

#endif
