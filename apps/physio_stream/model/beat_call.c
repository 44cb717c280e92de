/* beat_call.c - see beat_call.h. */
#include "model/beat_call.h"
#include <string.h>

/* Slots handed to the detector at once: bounds the gaps that await a beat. */
enum { BLOCK = 4096, GAPS = 4096 };

/* Head of the state; the detector's own block follows. */
typedef struct head {
  int64_t next;   /* first slot not seen                                          */
  int64_t beat;   /* last beat written, -1 for none                               */
  int64_t absent; /* whether slot next - 1 was absent                             */
  int64_t n_gaps;
  int64_t gap[GAPS]; /* first slots of the gaps that begin after the last beat    */
} head;

#define HEAD_BYTES ((sizeof(head) + 63) / 64 * 64)

static void *detector(const head *h)
{
  return (char *)(uintptr_t)h + HEAD_BYTES;
}

size_t ps_beat_call_bytes(const ps_beat_call *call)
{
  const size_t own = ps_detect_state_bytes(&call->opts, call->rate);

  return own == 0 ? 0 : HEAD_BYTES + own;
}

weir_status ps_beat_call_init(const ps_beat_call *call, void *state, size_t bytes)
{
  head *h = state;

  if (bytes < HEAD_BYTES) {
    return weir_fail(WEIR_ERR_SHAPE, "beats: state of %zu bytes, over %zu are needed", bytes,
                     HEAD_BYTES);
  }
  memset(h, 0, HEAD_BYTES);
  h->beat = -1;
  return ps_detect_init(&call->opts, call->rate, detector(h), bytes - HEAD_BYTES);
}

int64_t ps_beat_call_capacity(const void *state, int64_t slots)
{
  const void *own = detector(state);

  return 1 + ps_detect_capacity(own, slots) + ps_detect_capacity(own, BLOCK) +
         ps_detect_capacity(own, 0);
}

int64_t ps_beat_call_latency(const void *state)
{
  return ps_detect_latency(detector(state));
}

/* A gap begins at slot t. When the list is full, the second one is forgotten: the first decides
 * about the next beat. */
static void add_gap(head *h, int64_t t)
{
  if (h->n_gaps == GAPS) {
    memmove(h->gap + 1, h->gap + 2, (GAPS - 2) * sizeof *h->gap);
    h->n_gaps--;
  }
  h->gap[h->n_gaps++] = t;
}

/* Gaps that begin in slots [t0, t0 + n). */
static void note_gaps(head *h, const uint8_t *present, int64_t t0, int64_t n)
{
  if (t0 > h->next && !h->absent) { /* slots were left out */
    add_gap(h, h->next);
    h->absent = 1;
  }
  for (int64_t i = 0; i < n;) {
    const uint8_t *edge = memchr(present + i, h->absent ? 1 : 0, (size_t)(n - i));

    if (edge == NULL) {
      break;
    }
    i = edge - present;
    h->absent = !h->absent;
    if (h->absent) {
      add_gap(h, t0 + i);
    }
  }
  h->next = t0 + n;
}

/* Whether a gap begins between the last beat and this one, which becomes the last. */
static int64_t pass_gaps(head *h, int64_t beat)
{
  int64_t passed = 0;

  while (passed < h->n_gaps && h->gap[passed] < beat) {
    passed++;
  }
  memmove(h->gap, h->gap + passed, (size_t)(h->n_gaps - passed) * sizeof *h->gap);
  h->n_gaps -= passed;
  const int64_t gap = h->beat >= 0 && passed > 0;
  h->beat = beat;
  return gap;
}

/* The detector has written `found` samples after the first n. */
static void take(head *h, ps_beat_table *out, int64_t found)
{
  for (int64_t i = 0; i < found; i++, out->n++) {
    out->gap[out->n] = pass_gaps(h, out->sample[out->n]);
  }
}

/* The beats of n slots must fit. */
static weir_status check_capacity(const head *h, const ps_beat_table *out, int64_t n)
{
  const int64_t max_beats = ps_detect_capacity(detector(h), n);

  if (out->n + max_beats > out->capacity) {
    return weir_fail(WEIR_ERR_SHAPE, "beats: up to %lld in one call, there is room for %lld",
                     (long long)(out->n + max_beats), (long long)out->capacity);
  }
  return WEIR_OK;
}

weir_status ps_beat_call_slots(void *state, const float *filtered, const float *feature,
                               const uint8_t *present, int64_t t, int64_t n, ps_beat_table *out)
{
  head *h = state;

  for (int64_t end = t + n; t < end;) {
    const int64_t piece = end - t < BLOCK ? end - t : BLOCK;
    int64_t found = 0;

    WEIR_TRY(check_capacity(h, out, piece));
    note_gaps(h, present, t, piece);
    ps_detect_chunk(detector(h), filtered, feature, present, t, piece, out->sample + out->n,
                    out->fraction + out->n, out->capacity - out->n, &found);
    take(h, out, found);
    t += piece;
    filtered += piece;
    feature += piece;
    present += piece;
  }
  return WEIR_OK;
}

weir_status ps_beat_call_end(void *state, ps_beat_table *out)
{
  head *h = state;
  int64_t found = 0;

  WEIR_TRY(check_capacity(h, out, 0));
  ps_detect_flush(detector(h), out->sample + out->n, out->fraction + out->n, out->capacity - out->n,
                  &found);
  take(h, out, found);
  return WEIR_OK;
}

weir_status ps_beat_call_run(void *context, const weir_op_run *run)
{
  const int64_t t = run->box.lo[0], n = run->box.hi[0] - t;
  int64_t *result = run->out[0].data;
  const int64_t columns = run->out[0].extent[1];
  ps_beat_table out = {.sample = result + 1,
                       .gap = result + columns + 1,
                       .fraction = result + 2 * columns + 1,
                       .capacity = columns - 1};

  (void)context;
  WEIR_TRY(ps_beat_call_slots(run->in[3].data, weir_view_at(&run->in[0], &t),
                              weir_view_at(&run->in[1], &t), weir_view_at(&run->in[2], &t), t, n,
                              &out));
  if (run->last) {
    WEIR_TRY(ps_beat_call_end(run->in[3].data, &out));
  }
  result[0] = out.n;
  result[columns] = 0;
  result[2 * columns] = 0;
  return WEIR_OK;
}
