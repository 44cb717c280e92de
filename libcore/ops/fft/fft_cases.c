/* fft_cases.c - see ops_cases.h. */
#include "ops/fft/weir_fft.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_dtype parts[] = {WEIR_F32, WEIR_F64};
  const weir_dtype part = parts[weir_draw_int(&w, 0, 1)];
  weir_fft_spec s = {.kind = (int32_t)weir_draw_int(&w, 0, 3)};
  weir_array_desc x =
      weir_draw_array(&w, s.kind == WEIR_FFT_REAL ? part : weir_dtype_complex(part), 1, 4);

  for (int d = 0; d < x.rank && s.n_dims < WEIR_FFT_DIMS; d++) {
    if (weir_draw_one_in(&w, 2) || (s.n_dims == 0 && d == x.rank - 1)) {
      x.shape[d] = x.shape[d] > 24 ? 24 : x.shape[d];
      s.dim[s.n_dims++] = d;
    }
  }
  s.odd =
      s.kind == WEIR_FFT_TO_REAL && (x.shape[s.dim[s.n_dims - 1]] == 1 || weir_draw_one_in(&w, 2));
  s.scale = weir_draw_one_in(&w, 2) ? 0.25 : 0;
  for (int k = 0; k < s.n_dims && weir_draw_one_in(&w, 2); k++) { /* truncated spectra */
    const int64_t n = x.shape[s.dim[k]];
    const bool half = s.kind >= WEIR_FFT_REAL && k == s.n_dims - 1;
    const int64_t least = half ? 2 * n - 1 : n, most = half ? n / 2 + 1 : n;

    s.extent[k] = n < 1 ? 0
                  : s.kind == WEIR_FFT_BACKWARD || s.kind == WEIR_FFT_TO_REAL
                      ? weir_draw_int(&w, least, least + 9)
                      : weir_draw_int(&w, 1, most);
  }
  weir_case_input(c, &x, -2, 2);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_fft = {.op = &weir_op_fft, .draw = draw};
