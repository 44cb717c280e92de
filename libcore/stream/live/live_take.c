/* live_take.c - what one line does: declares, ends, or puts a sample into its slot. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "stream/live/live_priv.h"

#define NS 1000000000
/* Over a microsecond off its slot a sample is counted as snapped: below, its time was rounded. */
#define ROUNDED_NS 1000
/* As the runtime: a hundred years allow for the chunk after the last. */
#define LONGEST INT64_C(3200000000000000000)

int64_t live_slot_at(const live_ring *r, int64_t ns)
{
  const __int128 per = (__int128)r->facts.fs_den * NS;

  return (int64_t)(((__int128)ns * r->facts.fs_num + per - 1) / per);
}

int64_t live_time_of(const live_ring *r, int64_t slot)
{
  return (int64_t)((__int128)slot * r->facts.fs_den * NS / r->facts.fs_num);
}

int64_t live_watermark(const weir_live *l)
{
  return l->newest > l->lateness_ns ? l->newest - l->lateness_ns : 0;
}

static void copy_text(char *to, const char *from, int64_t size)
{
  const size_t n = size < WEIR_WIRE_TEXT ? (size_t)size : WEIR_WIRE_TEXT - 1;

  memcpy(to, from, n);
  to[n] = 0;
}

static const char *take_hello(weir_live *l, const weir_wire_line *line)
{
  if (l->begun) {
    return "#weir comes after samples";
  }
  if (line->name_size > 0) {
    copy_text(l->name, line->name, line->name_size);
  }
  if (line->clock != WEIR_WIRE_NO_TIME) {
    l->clock = line->clock;
    l->origin = line->ns;
  }
  return NULL;
}

static int find_stream(const weir_live *l, const char *name, int64_t size)
{
  for (int i = 0; i < l->n_streams; i++) {
    if (strncmp(l->ring[i].name, name, (size_t)size) == 0 && l->ring[i].name[size] == 0) {
      return i;
    }
  }
  return -1;
}

static const char *take_stream(weir_live *l, const weir_wire_line *line)
{
  if (l->begun) {
    return "#stream comes after samples";
  }
  if (find_stream(l, line->name, line->name_size) >= 0) {
    return "#stream declares a name twice";
  }
  if (l->n_streams == WEIR_LIVE_STREAMS) {
    return "#stream declares more than 64 streams";
  }
  live_ring *r = &l->ring[l->n_streams++];

  copy_text(r->name, line->name, line->name_size);
  copy_text(r->unit, line->unit_size > 0 ? line->unit : "", line->unit_size);
  r->before = INT64_MIN;
  r->facts = (weir_live_stream){
      .name = r->name, .unit = r->unit, .fs_num = line->fs_num, .fs_den = line->fs_den};
  return NULL;
}

/* Time of a line in ns from slot 0; false where it cannot be determined. The first time of a
 * recording without a stated start is that of slot 0. A number counts from a start that is a date.
 */
static bool relative(weir_live *l, const weir_wire_line *line, int64_t *ns)
{
  if (l->clock == WEIR_WIRE_NO_TIME) {
    l->clock = line->clock;
    l->origin = line->ns;
  }
  if (line->clock == WEIR_WIRE_DATE && l->clock != WEIR_WIRE_DATE) {
    return false;
  }
  const bool same = line->clock == l->clock;

  return !__builtin_sub_overflow(line->ns, same ? l->origin : 0, ns) && -LONGEST < *ns &&
         *ns < LONGEST;
}

/* True for a time farther ahead of the newest sample than the jump allows. */
static bool is_ahead(const weir_live *l, int64_t ns)
{
  return (double)(ns - (l->newest > 0 ? l->newest : 0)) > l->cfg.max_ahead * NS;
}

static const char *take_end(weir_live *l, const weir_wire_line *line)
{
  int64_t ns = 0;

  l->finished = true;
  if (line->clock == WEIR_WIRE_NO_TIME) {
    return NULL;
  }
  if (!l->begun || !relative(l, line, &ns) || ns < 0) {
    return "#end has a time outside this recording";
  }
  if (is_ahead(l, ns)) {
    return "#end is further ahead of the samples than the maximum: the recording ends at the last "
           "sample";
  }
  l->end = ns;
  return NULL;
}

static void store(live_ring *r, int64_t slot, float value, bool present)
{
  const int64_t at = slot % r->capacity;

  r->value[at] = present ? value : 0.0f;
  r->state[at] = present ? LIVE_VALUE : LIVE_ABSENT;
}

bool live_store_pending(weir_live *l)
{
  if (l->pending.stream < 0) {
    return true;
  }
  live_ring *r = &l->ring[l->pending.stream];

  if (l->pending.slot >= r->base + r->capacity) {
    return false;
  }
  store(r, l->pending.slot, l->pending.value, l->pending.present);
  l->pending.stream = -1;
  return true;
}

/* Counts and keeps a sample of a stream in use, whose time is known. NULL: kept. */
static const char *keep(weir_live *l, int stream, int64_t ns, const weir_wire_line *line)
{
  live_ring *r = &l->ring[stream];
  const __int128 per = (__int128)r->facts.fs_den * NS;
  const __int128 twice = 2 * (__int128)ns * r->facts.fs_num + per;
  const int64_t slot = (int64_t)(twice >= 0 ? twice / (2 * per) : -1);
  const int64_t slot_ns = slot < 0 ? 0 : live_time_of(r, slot);
  const int64_t off = ns > slot_ns ? ns - slot_ns : slot_ns - ns;

  if (slot < 0 || slot < live_slot_at(r, live_watermark(l))) {
    l->counts.late++;
    return "the sample is later than the allowed lateness";
  }
  if (l->cfg.tolerance > 0 && (double)off > l->cfg.tolerance * NS) {
    l->counts.off_grid++;
    return "the sample is further from its slot than the tolerance";
  }
  if (is_ahead(l, slot_ns)) {
    l->counts.ahead++;
    return "the sample is further ahead of the others than the maximum";
  }
  if (slot < r->base + r->capacity && r->state[slot % r->capacity] != LIVE_NOTHING) {
    l->counts.duplicate++;
    return "the slot already has a sample";
  }
  l->counts.kept++;
  l->counts.absent += !line->present;
  l->counts.snapped += off > ROUNDED_NS;
  l->newest = slot_ns > l->newest ? slot_ns : l->newest;
  l->pending = (live_pending){stream, slot, (float)line->value, line->present};
  (void)live_store_pending(l);
  return NULL;
}

static const char *take_sample(weir_live *l, const weir_wire_line *line)
{
  const int stream = find_stream(l, line->name, line->name_size);
  int64_t ns = 0;

  if (stream < 0 || !relative(l, line, &ns)) {
    l->counts.malformed++;
    return stream < 0 ? "no #stream line declares the stream of the sample"
                      : "the sample has a date, but the start is a number";
  }
  live_ring *r = &l->ring[stream];

  l->begun = true;
  l->counts.samples++;
  if (r->uses == 0) {
    l->counts.unused++;
    return NULL;
  }
  l->counts.backward += ns < r->before;
  r->before = ns;
  return keep(l, stream, ns, line);
}

/* Without its declaration a stream cannot come at all: one that is wrong ends what begins. */
static void refuse_declaration(weir_live *l, const weir_wire_line *line)
{
  if (line->declares && !l->begun && !l->finished && l->refused[0] == 0) {
    (void)snprintf(l->refused, sizeof l->refused, "line %lld: '%.*s': %s",
                   (long long)l->counts.lines, (int)(line->fault_size < 80 ? line->fault_size : 80),
                   line->fault, line->reason);
  }
}

void live_take(weir_live *l, const char *text, int64_t size)
{
  weir_wire_line line;
  const char *wrong = NULL;

  weir_wire_parse(text, size, &line);
  l->counts.lines++;
  const weir_wire_kind kind = l->finished ? WEIR_WIRE_BAD : line.kind;

  switch (kind) {
  case WEIR_WIRE_NOTHING:
    return;
  case WEIR_WIRE_HELLO:
    wrong = take_hello(l, &line);
    break;
  case WEIR_WIRE_STREAM:
    wrong = take_stream(l, &line);
    break;
  case WEIR_WIRE_SAMPLE:
    wrong = take_sample(l, &line);
    break;
  case WEIR_WIRE_END:
    wrong = take_end(l, &line);
    break;
  case WEIR_WIRE_BAD:
    wrong = l->finished ? "the line comes after #end" : line.reason;
    refuse_declaration(l, &line);
    break;
  }
  l->counts.malformed += wrong != NULL && kind != WEIR_WIRE_SAMPLE;
  l->useless = wrong != NULL ? l->useless + 1 : 0;
  l->reason = wrong != NULL ? wrong : l->reason;
}
