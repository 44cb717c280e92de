/* planes_priv.h - transforms of real planes [ny, nx]: the code of kernel/fft_planes_fftw.c,
 * compiled for several instruction sets, with the same bits. */
#ifndef PLANES_PRIV_H
#define PLANES_PRIV_H
#include "ops/fft/weir_fft.h"

/* A spectrum in memory has `rows` rows of `pitch` complex numbers. */
typedef struct planes {
  const weir_node *node; /* the graph's */
  int64_t ny, nx;
  int64_t waves;       /* of the spectrum, along x                                              */
  int64_t pitch, rows; /* at least waves; ny or one more, even                                  */
  int64_t lines, line; /* pairs of rows that are transformed at once; their numbers in memory   */
  bool back;           /* from the spectrum */
  double scale;
  weir_fft_plan *along_y, *along_x;
} planes;

/* Between both passes a plane is `mixed`, of x waves and y points: `rows` rows in memory.
 *
 * planes_columns: between the spectrum of a plane and mixed; memory: a spectrum. planes_rows:
 * between rows [from, to) of mixed and of the plane; from is a multiple of 2 c->lines, and so is
 * to, or it is c->ny; memory: twice the numbers of the lines. To a plane, the first of these are 0
 * wherever a row has no waves: they stay so. */
typedef void planes_columns(const planes *c, const weir_matrix *spectrum, void *mixed,
                            void *memory);
typedef void planes_rows(const planes *c, void *mixed, int64_t from, int64_t to,
                         const weir_matrix *plane, void *memory);
typedef struct planes_code {
  planes_columns *columns_to_real, *columns_from_real;
  planes_rows *rows_to_real, *rows_from_real;
} planes_code;

/* Of the functions of planes_kernel.h in one dtype. */
#define PLANES_CODE(dtype)                                                    \
  {                                                                           \
    columns_to_real_##dtype, columns_from_real_##dtype, rows_to_real_##dtype, \
        rows_from_real_##dtype                                                \
  }
/* Of f32 and f64. */
extern const planes_code planes_plain[2], planes_avx2[2], planes_avx512[2];
#endif
