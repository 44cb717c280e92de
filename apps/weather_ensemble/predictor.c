/* predictor.c - see predictor.h. */
#include "predictor.h"
#include <string.h>
#include "base/weir_alloc.h"

static weir_status make_plan(wx_predictor *p, const weir_plan_opts *exec)
{
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(wx_experiment_append(p->e, p->batch, g), done);
  WEIR_TRY_GOTO(weir_plan_create(g, p->e->store, exec, &p->plan), done);
done:
  weir_graph_destroy(&g);
  return status;
}

static weir_status take_room(wx_predictor *p)
{
  const wx_facts *f = &p->e->facts;
  int64_t shape[WEIR_MAX_RANK] = {p->batch};

  for (int d = 0; d < f->rank; d++) {
    shape[1 + d] = f->axis[d].length;
  }
  shape[1 + f->rank] = f->n_channels[WX_X];
  WEIR_TRY(weir_tensor_init(&p->x, WEIR_F32, 2 + f->rank, shape));
  WEIR_TRY(weir_alloc(weir_tensor_count(&p->x), sizeof *p->raw, (void **)&p->raw));
  shape[1 + f->rank] = f->n_channels[WX_Y];
  for (int k = 0; k < 1 + p->spread; k++) {
    WEIR_TRY(weir_tensor_init(&p->out[k], WEIR_F32, 2 + f->rank, shape));
    WEIR_TRY(weir_alloc(weir_tensor_count(&p->out[k]), sizeof **p->field, (void **)&p->field[k]));
  }
  return WEIR_OK;
}

weir_status wx_predictor_create(wx_experiment *e, const weir_plan_opts *exec, wx_predictor *out)
{
  *out = (wx_predictor){
      .e = e, .spread = e->cfg->model.loss == WX_LOSS_CRPS, .batch = e->cfg->train.batch};
  weir_status status = take_room(out);

  if (status == WEIR_OK) {
    status = make_plan(out, exec);
  }
  if (status != WEIR_OK) {
    wx_predictor_fini(out);
  }
  return status;
}

weir_status wx_predictor_run(wx_predictor *p, const int64_t *sample, int64_t n)
{
  const wx_standard *s = &p->e->standard;
  const int64_t of_x = s->n_x * s->cells, of_y = s->n_y * s->cells;
  weir_binding binding[] = {{"x", &p->x}, {"mean", &p->out[0]}, {"spread", &p->out[1]}};

  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(wx_samples_read(p->e->samples, WX_X, sample[i], p->raw + i * of_x));
    wx_standard_x(s, p->raw + i * of_x, (float *)p->x.data + i * of_x);
  }
  WEIR_TRY(weir_plan_run(p->plan, binding, 2 + p->spread));
  for (int64_t i = 0; i < n; i++) {
    wx_standard_field(s, p->raw + i * of_x, (float *)p->out[0].data + i * of_y,
                      p->field[0] + i * of_y);
    if (p->spread) {
      wx_standard_spread(s, (float *)p->out[1].data + i * of_y, p->field[1] + i * of_y);
    }
  }
  return WEIR_OK;
}

void wx_predictor_fini(wx_predictor *p)
{
  weir_plan_destroy(&p->plan);
  weir_tensor_fini(&p->x);
  weir_free(&p->raw);
  for (int k = 0; k < 2; k++) {
    weir_tensor_fini(&p->out[k]);
    weir_free(&p->field[k]);
  }
}
