/* predictor.c - see predictor.h. */
#include "predictor.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "baseline/cases.h"

static weir_status make_plan(wx_predictor *p, const weir_plan_opts *exec)
{
  weir_plan_opts own = *exec;
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  own.dist = NULL;
  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(wx_stage_append(p->stage, p->batch, g), done);
  WEIR_TRY_GOTO(weir_plan_create(g, p->stage->store, &own, &p->plan), done);
done:
  weir_graph_destroy(&g);
  return status;
}

/* Members of the batch, as the network sees them; what it makes of them, and as fields. */
static weir_status allocate_members(wx_predictor *p)
{
  const weir_train_input *const in = &p->stage->input[WX_IN_MEMBERS];
  int64_t shape[WEIR_MAX_RANK] = {p->batch}, n;

  memcpy(shape + 1, in->shape, sizeof *shape * (size_t)in->rank);
  if (!weir_mul_ok(p->batch * p->of_y, p->stage->facts.members, &n)) {
    return weir_fail(WEIR_ERR_MEMORY, "the members of a sample are too many");
  }
  WEIR_TRY(weir_tensor_init(&p->e, WEIR_F32, 1 + in->rank, shape));
  if (p->stage->model.head != WX_HEAD_MEMBERS) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_tensor_init(&p->made, WEIR_F32, 1 + in->rank, shape));
  return weir_alloc(n, sizeof *p->members, (void **)&p->members);
}

static weir_status allocate(wx_predictor *p)
{
  const wx_info *f = &p->stage->facts;
  int64_t shape[WEIR_MAX_RANK] = {p->batch};

  for (int d = 0; d < f->rank; d++) {
    shape[1 + d] = f->axis[d].length;
  }
  shape[1 + f->rank] = f->n_channels[WX_X];
  WEIR_TRY(weir_tensor_init(&p->x, WEIR_F32, 2 + f->rank, shape));
  shape[1 + f->rank] = f->n_channels[WX_Y];
  WEIR_TRY(weir_tensor_init(&p->s, WEIR_F32, 2 + f->rank, shape));
  for (int k = 0; k < 2; k++) {
    WEIR_TRY(weir_tensor_init(&p->out[k], WEIR_F32, 2 + f->rank, shape));
  }
  WEIR_TRY(weir_alloc(p->batch * p->of_y, sizeof *p->m, (void **)&p->m));
  WEIR_TRY(weir_alloc(p->batch * p->of_y, sizeof *p->m, (void **)&p->mean));
  if (wx_outputs_differ(p->stage->output, f->n_channels[WX_Y])) {
    WEIR_TRY(weir_alloc(p->batch * p->of_y, sizeof *p->m, (void **)&p->location));
    WEIR_TRY(weir_alloc(p->batch * p->of_y, sizeof *p->m, (void **)&p->scale));
  }
  if (p->takes_members) {
    WEIR_TRY(allocate_members(p));
  }
  return p->makes_sigma ? weir_alloc(p->batch * p->of_y, sizeof *p->m, (void **)&p->sigma)
                        : WEIR_OK;
}

weir_status wx_predictor_create(const wx_stage *stage, int64_t batch, const weir_plan_opts *exec,
                                wx_predictor *out)
{
  const wx_info *f = &stage->facts;

  *out = (wx_predictor){.stage = stage,
                        .makes_mean = stage->model.head != WX_HEAD_SPREAD,
                        .makes_sigma = stage->model.head != WX_HEAD_MEAN,
                        .takes_members = wx_model_takes_members(&stage->model),
                        .batch = batch,
                        .of_x = f->n_channels[WX_X] * f->cells,
                        .of_y = f->n_channels[WX_Y] * f->cells};
  weir_status status = allocate(out);

  if (status == WEIR_OK) {
    status = make_plan(out, exec);
  }
  if (status != WEIR_OK) {
    wx_predictor_fini(out);
  }
  return status;
}

void wx_predictor_put(wx_predictor *p, int64_t i, const wx_sample *v)
{
  const wx_standard *s = &p->stage->standard;

  wx_standard_x(s, v->x, (float *)p->x.data + i * p->of_x);
  wx_standard_y(s, NULL, NULL, v->s, NULL, (float *)p->s.data + i * p->of_y);
  memcpy(p->m + i * p->of_y, v->m, (size_t)p->of_y * sizeof *p->m);
  const int64_t each = p->of_y * p->stage->facts.members;

  if (p->takes_members) {
    WEIR_ASSERT(v->e != NULL);
    wx_standard_members(s, v->e, v->m, (float *)p->e.data + i * each);
  }
  if (p->members != NULL) {
    memcpy(p->members + i * each, v->e, (size_t)each * sizeof *p->members);
  }
}

/* Members of sample i, and their moments. */
static void take_members(wx_predictor *p, int64_t i)
{
  const wx_info *const f = &p->stage->facts;
  const int64_t each = p->of_y * f->members, at = i * p->of_y, plane = f->cells / f->depth;
  float *const member = p->members + i * each;

  wx_standard_members_field(&p->stage->standard, p->m + at, (float *)p->made.data + i * each,
                            member);
  for (int64_t k = 0; k < p->of_y; k += plane) {
    wx_cases_moments(member + k * f->members, f->members, plane, p->mean + at + k,
                     p->sigma + at + k);
  }
  for (int64_t k = at; k < at + p->of_y; k++) {
    p->sigma[k] = sqrtf(p->sigma[k]);
  }
}

/* Mean and sigma of a sample, which begins at `at`, are its location and scale. */
static void take_moments(wx_predictor *p, int64_t at)
{
  const wx_output *const output = p->stage->output;
  const int64_t cells = p->stage->facts.cells;
  const size_t bytes = (size_t)p->of_y * sizeof *p->mean;

  memcpy(p->scale + at, p->sigma + at, bytes);
  for (int64_t i = 0; i < p->of_y; i++) {
    const wx_output *const is = &output[i / cells];

    p->location[at + i] =
        (float)wx_output_location(is, (double)p->mean[at + i], (double)p->sigma[at + i]);
    const wx_distribution d = {
        is->family, (double)p->location[at + i], (double)p->scale[at + i], is->lower, is->shift,
        is->width};
    double mean, sd;

    if (is->family != WX_NORMAL) {
      wx_distribution_moments(&d, &mean, &sd);
      p->mean[at + i] = (float)mean;
      p->sigma[at + i] = (float)sd;
    }
  }
}

weir_status wx_predictor_run(wx_predictor *p)
{
  const wx_standard *s = &p->stage->standard;
  weir_binding binding[5] = {{"x", &p->x}, {"s", &p->s}};
  int n = 2;

  if (p->takes_members) {
    binding[n++] = (weir_binding){WX_MEMBERS_NAME, &p->e};
  }
  if (p->members != NULL) {
    binding[n++] = (weir_binding){WX_MADE_MEMBERS, &p->made};
    WEIR_TRY(weir_plan_run(p->plan, binding, n));
    for (int64_t i = 0; i < p->batch; i++) {
      take_members(p, i);
    }
    return WEIR_OK;
  }
  if (p->makes_mean) {
    binding[n++] = (weir_binding){"mean", &p->out[0]};
  }
  if (p->makes_sigma) {
    binding[n++] = (weir_binding){"sigma", &p->out[1]};
  }
  WEIR_TRY(weir_plan_run(p->plan, binding, n)); /* where no mean is made it stays 0 */
  for (int64_t i = 0; i < p->batch; i++) {
    const int64_t at = i * p->of_y;

    wx_standard_field(s, p->m + at, (float *)p->out[0].data + at, p->mean + at);
    if (p->makes_sigma) {
      wx_standard_spread(s, (float *)p->out[1].data + at, p->sigma + at);
    }
    if (p->location != NULL) {
      take_moments(p, at);
    }
  }
  return WEIR_OK;
}

void wx_predictor_fini(wx_predictor *p)
{
  weir_plan_destroy(&p->plan);
  weir_tensor_fini(&p->x);
  weir_tensor_fini(&p->s);
  weir_tensor_fini(&p->out[0]);
  weir_tensor_fini(&p->out[1]);
  weir_free(&p->m);
  weir_free(&p->mean);
  weir_free(&p->sigma);
  weir_free(&p->location);
  weir_free(&p->scale);
  weir_tensor_fini(&p->e);
  weir_tensor_fini(&p->made);
  weir_free(&p->members);
}

weir_status wx_predict_means(const wx_stage *stage, const weir_plan_opts *exec,
                             const int64_t *sample, int64_t n, float *mean)
{
  wx_predictor p;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_predictor_create(stage, 1, exec, &p));
  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    wx_sample v;

    if (weir_stop_requested()) {
      status = weir_fail(WEIR_ERR_STOPPED, "stopped at the corrected mean of sample %lld of %lld",
                         (long long)i, (long long)n);
      break;
    }
    WEIR_TRY_GOTO(wx_samples_read(stage->is.samples, sample[i], &v), done);
    wx_predictor_put(&p, 0, &v);
    WEIR_TRY_GOTO(wx_predictor_run(&p), done);
    memcpy(mean + sample[i] * p.of_y, p.mean, (size_t)p.of_y * sizeof *mean);
  }
done:
  wx_predictor_fini(&p);
  return status;
}
