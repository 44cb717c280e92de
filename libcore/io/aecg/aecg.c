/* aecg.c - annotated ECGs of HL7 as records. */
#include <string.h>
#include "io/aecg/aecg_priv.h"
#include "io/weir_record_format.h"
#include "io/xml/weir_leads.h"
#include "io/xml/weir_xml.h"

/* Every file of XML that is not of another format, so that it is refused by the name of its root
 * element. */
static bool claims(const char *path)
{
  char root[WEIR_XML_NAME];

  if (!weir_leads_is_xml(path)) {
    return false;
  }
  return !weir_xml_root(path, root) ||
         (strcmp(root, "RestingECG") != 0 && strcmp(root, "restingecgdata") != 0);
}

static weir_status open_aecg(const char *path, const weir_record_opts *opts, weir_record_body *body)
{
  return weir_leads_open(path, opts, weir_aecg_parse, body);
}

extern const weir_record_format weir_record_format_aecg;
const weir_record_format weir_record_format_aecg = {
    .name = "aecg",
    .help = "an annotated ECG of HL7 (.xml)",
    .claims = claims,
    .open = open_aecg,
    .close = weir_leads_close,
    .stores_integers = true,
    .read = weir_leads_read,
    .next_run = weir_leads_next_run,
    .events = weir_leads_events,
};
