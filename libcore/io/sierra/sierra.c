/* sierra.c - resting ECGs of Philips as records. */
#include <string.h>
#include "io/sierra/sierra_priv.h"
#include "io/weir_record_format.h"
#include "io/xml/weir_xml.h"

static bool claims(const char *path)
{
  char root[WEIR_XML_NAME];

  return weir_leads_is_xml(path) && weir_xml_root(path, root) &&
         strcmp(root, "restingecgdata") == 0;
}

static weir_status open_sierra(const char *path, const weir_record_opts *opts,
                               weir_record_body *body)
{
  return weir_leads_open(path, opts, weir_sierra_parse, body);
}

extern const weir_record_format weir_record_format_sierra;
const weir_record_format weir_record_format_sierra = {
    .name = "sierra",
    .help = "a resting ECG of Philips (.xml, restingecgdata)",
    .claims = claims,
    .open = open_sierra,
    .close = weir_leads_close,
    .stores_integers = true,
    .read = weir_leads_read,
    .next_run = weir_leads_next_run,
    .events = weir_leads_events,
};
