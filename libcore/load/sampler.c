/* sampler.c - see weir_sampler.h. */
#include "load/weir_sampler.h"

int64_t weir_sampler_epoch(const weir_sampler *o)
{
  return o->drop_last ? o->samples / o->step * o->step : o->samples;
}

void weir_sampler_take(const weir_sampler *o, int64_t epoch, int64_t at, int64_t n, int64_t *sample)
{
  const weir_shuffle s = weir_shuffle_of(o->samples, o->seed, epoch);

  for (int64_t i = 0; i < n; i++) {
    sample[i] = o->shuffle ? weir_shuffle_at(&s, at + i) : at + i;
  }
}

void weir_sampler_share(int64_t n, int64_t at, int64_t of, int64_t *lo, int64_t *hi)
{
  *lo = n / of * at + n % of * at / of;
  *hi = n / of * (at + 1) + n % of * (at + 1) / of;
}

weir_access_stream weir_access_stream_of(const weir_sampler *o, int64_t at, int64_t of)
{
  const int64_t epoch = weir_sampler_epoch(o);
  weir_access_stream v = {.order = *o, .at = at, .of = of, .batches = epoch / o->batch};
  int64_t hi = 0;

  weir_sampler_share(o->batch, at, of, &v.lo, &hi);
  v.whole = hi - v.lo;
  weir_sampler_share(epoch % o->batch, at, of, &v.tail_lo, &hi);
  v.tail = hi - v.tail_lo;
  v.each = v.batches * v.whole + v.tail;
  return v;
}

int64_t weir_access_stream_from(const weir_access_stream *v, int64_t epoch, int64_t position)
{
  const int64_t batch = position / v->order.batch;

  return epoch * v->each + (batch < v->batches                         ? batch * v->whole
                            : position < weir_sampler_epoch(&v->order) ? v->batches * v->whole
                                                                       : v->each);
}

int64_t weir_access_stream_position(const weir_access_stream *v, int64_t visit)
{
  const int64_t k = visit % v->each, in_batches = v->batches * v->whole;

  return k < in_batches ? k / v->whole * v->order.batch + v->lo + k % v->whole
                        : v->batches * v->order.batch + v->tail_lo + (k - in_batches);
}

int64_t weir_access_stream_sample(const weir_access_stream *v, int64_t visit)
{
  int64_t sample = 0;

  weir_sampler_take(&v->order, visit / v->each, weir_access_stream_position(v, visit), 1, &sample);
  return sample;
}
