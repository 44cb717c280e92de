/* contract_cases.c - see ops_cases.h. */
#include <stdio.h>
#include "ops/contract/weir_contract.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  static const char *const patterns[] = {
      "ik,kj->ij",   "ki,kj->ij",     "ik,jk->ij",   "ik,kj->ji",   "bik,bkj->bij", "i,i->",
      "i,j->ij",     "ij,j->i",       "ii->i",       "ii->",        "ij->ji",       "ijk,kl,l->ji",
      "ikl,klj->ij", "ij,jm,ml,l->i", "bi,bj,ij->b", "ij,ij,ij->j", "iij,jm->im",   "a,b,c,d->dacb",
  };
  weir_draw w = {.seed = seed};
  weir_contract_spec s = {.accumulator = 0};
  const weir_dtype dtype = weir_draw_dtype(&w, "nhc");
  int64_t extent['z' + 1] = {0};

  snprintf(s.labels, sizeof s.labels, "%s",
           patterns[weir_draw_int(&w, 0, (int64_t)(sizeof patterns / sizeof patterns[0]) - 1)]);
  for (int i = 'a'; i <= 'z'; i++) {
    extent[i] = weir_draw_one_in(&w, 20) ? 0 : weir_draw_int(&w, 1, 11);
  }
  extent['k'] *= weir_draw_one_in(&w, 2) ? 100 : 1;
  for (const char *at = s.labels; *at != '-'; at += *at == ',') {
    weir_array_desc d = {.dtype = dtype};

    for (; *at >= 'a'; at++) {
      d.shape[d.rank++] = extent[(unsigned char)*at];
    }
    weir_case_input(c, &d, dtype == WEIR_U8 ? 0 : -3, 3);
  }
  if (weir_draw_one_in(&w, 3)) {
    s.accumulator = dtype == WEIR_F32   ? 1 + (int)WEIR_F64
                    : dtype == WEIR_C64 ? 1 + (int)WEIR_C128
                                        : 0;
  }
  if (weir_dtype_is_complex(dtype)) {
    s.conjugate = (uint32_t)weir_draw_int(&w, 0, (1 << c->n_in) - 1);
  }
  c->exact = weir_dtype_is_whole(dtype);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_contract = {.op = &weir_op_contract, .draw = draw};
