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

/* Transforms one plane; memory: two spectra, then twice the numbers of the lines. From a spectrum,
 * the first of these are 0 wherever a row has no waves: they stay so. */
typedef void planes_run(const planes *c, const weir_matrix *from, const weir_matrix *to,
                        void *memory);
typedef struct planes_code {
  planes_run *to_real, *from_real;
} planes_code;

/* Of f32 and f64. */
extern const planes_code planes_plain[2], planes_avx2[2], planes_avx512[2];
#endif
