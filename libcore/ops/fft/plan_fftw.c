/* plan_fftw.c - weir_fft_plan.h on FFTW 3, through its guru interface of 64 bits.
 *
 * Plans are ESTIMATEd: MEASURE times candidates, so that the plan, and with it the rounding, would
 * differ from run to run. Measured on an EPYC 9004 core, 1D complex f32, n = 64 and 128, batches of
 * 24 to 264: ESTIMATE 35 to 57 Gflop/s, MEASURE 27 to 60. */
#include <fftw3.h>

#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "ops/fft/weir_fft_plan.h"

struct weir_fft_plan {
  weir_dtype dtype;
  weir_fft_kind kind;
  fftwf_plan single;
  fftw_plan twofold;
};

static weir_lock planner = WEIR_LOCK_INIT;

bool weir_fft_plan_available(void)
{
  return true;
}

/* Elements of the last transformed dimension on one side. */
static int64_t length(const weir_fft_plan_spec *s, int d, bool out)
{
  const bool half = s->kind == (out ? WEIR_FFT_REAL : WEIR_FFT_TO_REAL) && d == s->rank - 1;

  return half ? s->dim[d].n / 2 + 1 : s->dim[d].n;
}

/* Elements from the first to the last that one side touches. */
static weir_status extent(const weir_fft_plan_spec *s, bool out, int64_t *total)
{
  *total = 1;
  for (int i = 0; i < s->rank + s->loops; i++) {
    const weir_fft_dim *d = i < s->rank ? &s->dim[i] : &s->loop[i - s->rank];
    const int64_t n = i < s->rank ? length(s, i, out) : d->n;
    const int64_t stride = out ? d->out : d->in;
    int64_t far = 0;

    if (n < 1 || stride < 1 || !weir_mul_ok(n - 1, stride, &far) ||
        !weir_add_ok(*total, far, total)) {
      return weir_fail(WEIR_ERR_SHAPE, "fft: %lld points with stride %lld in dimension %d",
                       (long long)d->n, (long long)stride, i);
    }
  }
  return WEIR_OK;
}

static weir_status check(const weir_fft_plan_spec *s)
{
  if (s->rank < 1 || s->rank > WEIR_FFT_DIMS || s->loops < 0 || s->loops > WEIR_FFT_LOOPS) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "fft: %d dimensions and %d loops: 1 to %d and 0 to %d are supported", s->rank,
                     s->loops, WEIR_FFT_DIMS, WEIR_FFT_LOOPS);
  }
  if (s->dtype != WEIR_F32 && s->dtype != WEIR_F64) {
    return weir_fail(WEIR_ERR_SHAPE, "fft: plans of %s: f32 and f64 are supported",
                     weir_dtype_name(s->dtype));
  }
  return WEIR_OK;
}

static void fill(const weir_fft_dim *from, int n, fftw_iodim64 *to)
{
  for (int i = 0; i < n; i++) {
    to[i] = (fftw_iodim64){from[i].n, from[i].in, from[i].out};
  }
}

/* Both precisions have the same types of dimensions (fftw_iodim64_do_not_use_me). */
static void plan_single(const weir_fft_plan_spec *s, const fftw_iodim64 *dim,
                        const fftw_iodim64 *loop, void *in, void *out, weir_fft_plan *p)
{
  const unsigned flags = FFTW_ESTIMATE;

  if (s->kind == WEIR_FFT_REAL) {
    p->single = fftwf_plan_guru64_dft_r2c(s->rank, dim, s->loops, loop, in, out, flags);
  } else if (s->kind == WEIR_FFT_TO_REAL) {
    p->single = fftwf_plan_guru64_dft_c2r(s->rank, dim, s->loops, loop, in, out, flags);
  } else {
    p->single =
        fftwf_plan_guru64_dft(s->rank, dim, s->loops, loop, in, out,
                              s->kind == WEIR_FFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, flags);
  }
}

static void plan_twofold(const weir_fft_plan_spec *s, const fftw_iodim64 *dim,
                         const fftw_iodim64 *loop, void *in, void *out, weir_fft_plan *p)
{
  const unsigned flags = FFTW_ESTIMATE;

  if (s->kind == WEIR_FFT_REAL) {
    p->twofold = fftw_plan_guru64_dft_r2c(s->rank, dim, s->loops, loop, in, out, flags);
  } else if (s->kind == WEIR_FFT_TO_REAL) {
    p->twofold = fftw_plan_guru64_dft_c2r(s->rank, dim, s->loops, loop, in, out, flags);
  } else {
    p->twofold =
        fftw_plan_guru64_dft(s->rank, dim, s->loops, loop, in, out,
                             s->kind == WEIR_FFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, flags);
  }
}

/* Plans for arrays of the alignment that all others will have. */
static weir_status make_plan(const weir_fft_plan_spec *s, void *in, void *out, weir_fft_plan *p)
{
  fftw_iodim64 dim[WEIR_FFT_DIMS], loop[WEIR_FFT_LOOPS];

  fill(s->dim, s->rank, dim);
  fill(s->loop, s->loops, loop);
  weir_lock_take(&planner);
  if (s->dtype == WEIR_F32) {
    plan_single(s, dim, loop, in, out, p);
  } else {
    plan_twofold(s, dim, loop, in, out, p);
  }
  weir_lock_give(&planner);
  if (p->single == NULL && p->twofold == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "fft: FFTW has no plan for %d dimensions of %lld points",
                     s->rank, (long long)s->dim[0].n);
  }
  return WEIR_OK;
}

weir_status weir_fft_plan_create(const weir_fft_plan_spec *spec, weir_fft_plan **out)
{
  void *in_buffer = NULL, *out_buffer = NULL, *memory = NULL;
  weir_status status = WEIR_OK;
  int64_t n_in = 0, n_out = 0;

  *out = NULL;
  WEIR_TRY(check(spec));
  WEIR_TRY(extent(spec, false, &n_in));
  WEIR_TRY(extent(spec, true, &n_out));
  const size_t pair = 2 * weir_dtype_size(spec->dtype);

  WEIR_TRY_GOTO(weir_alloc(spec->in_place && n_out > n_in ? n_out : n_in, pair, &in_buffer), done);
  WEIR_TRY_GOTO(weir_alloc(spec->in_place ? 0 : n_out, pair, &out_buffer), done);
  WEIR_TRY_GOTO(weir_alloc(1, sizeof(weir_fft_plan), &memory), done);
  weir_fft_plan *p = memory;

  p->dtype = spec->dtype;
  p->kind = spec->kind;
  WEIR_TRY_GOTO(make_plan(spec, in_buffer, spec->in_place ? in_buffer : out_buffer, p), done);
  *out = p;
  memory = NULL;
done:
  weir_free(&memory);
  weir_free(&in_buffer);
  weir_free(&out_buffer);
  return status;
}

static void run_single(const weir_fft_plan *p, void *in, void *out)
{
  if (p->kind == WEIR_FFT_REAL) {
    fftwf_execute_dft_r2c(p->single, in, out);
  } else if (p->kind == WEIR_FFT_TO_REAL) {
    fftwf_execute_dft_c2r(p->single, in, out);
  } else {
    fftwf_execute_dft(p->single, in, out);
  }
}

void weir_fft_plan_run(const weir_fft_plan *p, void *in, void *out)
{
  if (p->dtype == WEIR_F32) {
    run_single(p, in, out);
  } else if (p->kind == WEIR_FFT_REAL) {
    fftw_execute_dft_r2c(p->twofold, in, out);
  } else if (p->kind == WEIR_FFT_TO_REAL) {
    fftw_execute_dft_c2r(p->twofold, in, out);
  } else {
    fftw_execute_dft(p->twofold, in, out);
  }
}

void weir_fft_plan_destroy(weir_fft_plan **plan)
{
  if (*plan == NULL) {
    return;
  }
  weir_lock_take(&planner);
  if ((*plan)->single != NULL) {
    fftwf_destroy_plan((*plan)->single);
  }
  if ((*plan)->twofold != NULL) {
    fftw_destroy_plan((*plan)->twofold);
  }
  weir_lock_give(&planner);
  weir_free(plan);
}
