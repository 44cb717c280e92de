/* muse.c - exports of MUSE (GE) as records. */
#include <string.h>
#include "io/muse/muse_priv.h"
#include "io/weir_record_format.h"
#include "io/xml/weir_xml.h"

static bool claims(const char *path)
{
  char root[WEIR_XML_NAME];

  return weir_leads_is_xml(path) && weir_xml_root(path, root) && strcmp(root, "RestingECG") == 0;
}

static weir_status open_muse(const char *path, const weir_record_opts *opts, weir_record_body *body)
{
  return weir_leads_open(path, opts, weir_muse_parse, body);
}

extern const weir_record_format weir_record_format_muse;
const weir_record_format weir_record_format_muse = {
    .name = "muse",
    .help = "an export of MUSE of GE (.xml, RestingECG)",
    .claims = claims,
    .open = open_muse,
    .close = weir_leads_close,
    .stores_integers = true,
    .read = weir_leads_read,
    .next_run = weir_leads_next_run,
    .events = weir_leads_events,
};
