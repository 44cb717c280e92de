/* copies.c - copies that a group keeps of samples of others. Where all of them together have more
 * space than there are samples, each has its most frequent ones near (SC'21, section 5): they are
 * sent to it once. Which those are, groups tell each other at the start; what was sent, both ends
 * note. */
#include "base/weir_alloc.h"
#include "load/load_priv.h"

static bool has_bit(const uint8_t *bits, int64_t i)
{
  return (bits[i / 8] >> i % 8 & 1) != 0;
}

static void set_bit(uint8_t *bits, int64_t i)
{
  bits[i / 8] = (uint8_t)(bits[i / 8] | 1U << i % 8);
}

/* Returns the number of samples that come from others more than once, the most frequent first. */
static int64_t count(const weir_access_stream *v, int64_t first, int64_t end, const load_owners *k,
                     load_use *uses)
{
  for (int64_t i = 0; i < v->order.samples; i++) {
    uses[i].sample = i;
  }
  for (int64_t n = first; n < end; n++) {
    const int64_t sample = weir_access_stream_sample(v, n);
    int64_t at;

    uses[sample].times += load_comes(k, v->at, load_visit_batch(v, n, &at), sample);
  }
  return load_uses_frequent(uses, v->order.samples, 2);
}

weir_status load_copies_choose(const weir_access_stream *v, int64_t first, const load_owners *k,
                               int64_t end, int64_t capacity, load_copies *c)
{
  const int64_t n = v->order.samples;
  uint8_t *own = NULL;
  load_use *uses = NULL;
  weir_status status = WEIR_OK;

  c->bytes = (n + 7) / 8;
  WEIR_TRY(weir_alloc(n, sizeof *c->index, (void **)&c->index));
  WEIR_TRY(weir_alloc(v->of, (size_t)c->bytes, (void **)&c->wanted));
  WEIR_TRY(weir_alloc(v->of, (size_t)c->bytes, (void **)&c->sent));
  for (int64_t i = 0; i < n; i++) {
    c->index[i] = -1;
    capacity -= k->by[i] == v->at;
  }
  if (capacity <= 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *uses, (void **)&uses), done);
  const int64_t again = count(v, first, end, k, uses);

  own = c->wanted + v->at * c->bytes;
  while (c->n < again && c->n < capacity) {
    c->index[uses[c->n].sample] = (int32_t)c->n;
    set_bit(own, uses[c->n].sample);
    c->n++;
  }
done:
  weir_free(&uses);
  return status;
}

void load_copies_fini(load_copies *c)
{
  weir_free(&c->index);
  weir_free(&c->data);
  weir_free(&c->wanted);
  weir_free(&c->sent);
}

bool load_copies_send(load_copies *c, int64_t g, int64_t sample)
{
  uint8_t *const sent = c->sent + g * c->bytes;

  if (!has_bit(c->wanted + g * c->bytes, sample)) {
    return true;
  }
  const bool first = !has_bit(sent, sample);

  set_bit(sent, sample);
  return first;
}
