/* archive_write.c - writing an archive: the format that the name of the file asks for. */
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "data/archive/archive.h"
#include "data/archive/archive_format.h"

struct wx_archive_writer {
  const wx_sink *sink;
  void *state;
  const wx_archive_info *facts;
};

/* True when one of the endings ".a|.b" is `dot`, the last of a name. */
static bool is_one_of(const char *dot, const char *endings)
{
  const size_t n = strlen(dot);

  for (const char *at = endings; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncasecmp(at, dot, n) == 0 && (at[n] == '|' || at[n] == 0)) {
      return true;
    }
  }
  return false;
}

static const wx_sink *sink_of(const char *path)
{
  const char *const dot = strrchr(path, '.');
  const wx_format *found = NULL;

  for (const wx_format *const *f = wx_format_table; *f != NULL; f++) {
    if ((*f)->sink != NULL && dot != NULL && is_one_of(dot, (*f)->endings)) {
      return (*f)->sink;
    }
    found = found == NULL && (*f)->endings == NULL ? *f : found;
  }
  return found->sink;
}

weir_status wx_archive_create_as(const char *path, const wx_archive_info *facts,
                                 const wx_archive_out *how, wx_archive_writer **out)
{
  const wx_archive_out usual = {.like = NULL};
  wx_archive_writer *w = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *w, (void **)&w));
  w->sink = sink_of(path);
  w->facts = facts;
  const weir_status status = w->sink->create(path, facts, how != NULL ? how : &usual, &w->state);

  if (status != WEIR_OK) {
    weir_free(&w);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = w;
  return WEIR_OK;
}

weir_status wx_archive_create(const char *path, const wx_archive_info *facts,
                              wx_archive_writer **out)
{
  return wx_archive_create_as(path, facts, NULL, out);
}

weir_status wx_archive_put_text(wx_archive_writer *w, const char *name, const char *text)
{
  return w->sink->put_text(w->state, name, text);
}

weir_status wx_archive_write(wx_archive_writer *w, int64_t start, int64_t lead, int64_t quantity,
                             int64_t member, int64_t n, const float *values)
{
  const wx_archive_info *f = w->facts;

  if (start < 0 || start >= f->n_init_times || lead < 0 || lead >= f->n_leads || quantity < 0 ||
      quantity >= f->n_quantities || member < 0 || n < 0 || member > f->n_members - n) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "an archive that is written has no initialisation time %lld, lead %lld, quantity %lld, "
        "members %lld to %lld",
        (long long)start, (long long)lead, (long long)quantity, (long long)member,
        (long long)(member + n - 1));
  }
  return w->sink->write(w->state, start, lead, quantity, member, n, values);
}

weir_status wx_archive_finish(wx_archive_writer **w, weir_writer **file)
{
  const weir_status status = (*w)->sink->finish(&(*w)->state, file);

  wx_archive_abandon(w);
  return status;
}

weir_status wx_archive_commit(wx_archive_writer **w)
{
  weir_writer *file = NULL;

  WEIR_TRY(wx_archive_finish(w, &file));
  return weir_writer_commit(&file);
}

void wx_archive_abandon(wx_archive_writer **w)
{
  if (*w == NULL) {
    return;
  }
  (*w)->sink->abandon(&(*w)->state);
  weir_free(w);
}
