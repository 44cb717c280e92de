/* scan_cases.c - see ops_cases.h. */
#include "base/weir_check.h"
#include "ops/scan/scan_priv.h"
#include "ops/ops_cases.h"

/* Poles inside the circle of radius 0.8, by a2 = r^2 and |a1| < 1 + a2. */
static void draw_sos(weir_draw *w, weir_sos_spec *sos)
{
  sos->n = (int)weir_draw_int(w, 1, 3);
  sos->steady = weir_draw_one_in(w, 2);
  sos->hold = weir_draw_int(w, 0, 3);
  for (int i = 0; i < sos->n; i++) {
    double *k = sos->section[i];

    for (int j = 0; j < 3; j++) {
      k[j] = (double)weir_draw_int(w, -10, 10) / 8;
    }
    k[3] = 1;
    k[5] = (double)weir_draw_int(w, 0, 5) / 8;
    k[4] = (double)weir_draw_int(w, -7, 7) / 8 * k[5];
  }
}

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const bool sos = weir_draw_one_in(&w, 2);
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, sos ? "f" : "nbc"), 1, 3);
  weir_scan_spec s = {.name = sos ? "sos" : "cumsum",
                      .define = sos ? weir_scan_define_sos : weir_scan_define_cumsum,
                      .dim = (int)weir_draw_int(&w, 0, x.rank - 1),
                      .n_data = 1};

  s.backward = weir_draw_one_in(&w, 2);
  s.take_state = weir_draw_one_in(&w, 3);
  s.give_state = weir_draw_one_in(&w, 3);
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  if (sos) {
    weir_sos_spec cascade = {.n = 0};
    weir_array_desc p = x;

    draw_sos(&w, &cascade);
    weir_scan_pack_sos(&cascade, s.parameter);
    if (weir_draw_one_in(&w, 2)) {
      p.dtype = WEIR_BOOL;
      weir_case_input(c, &p, 0, 1);
      s.n_data = 2;
    }
  }
  if (s.take_state) {
    weir_scan_spec gives = s; /* the states it gives are those it takes */
    weir_array_desc out[WEIR_MAX_OUTPUTS];
    weir_op_args args = {.spec = &gives, .n_in = c->n_in, .in = c->in};

    gives.take_state = false;
    gives.give_state = true;
    args.n_out = weir_op_scan.outputs(&args);
    assert_ok(weir_op_scan.infer(&args, out));
    for (int k = 1; k < args.n_out; k++) {
      weir_case_input(c, &out[k], 0, 2);
    }
  }
  c->exact = sos || weir_dtype_is_whole(x.dtype);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_scan = {.op = &weir_op_scan, .draw = draw};
