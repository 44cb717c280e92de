/* absent/slepc.c - see lead_priv.h: where the build has no SLEPc. */
#include "model/lead/lead_priv.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "lead.method: slepc finds modes by SLEPc, which this build has not; set "
                   "lead.method: modes or contour");
}

weir_status lead_slepc_start(const weir_string_list *options)
{
  (void)options;
  return refuse();
}

weir_status lead_slepc(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming, lead_outcome *out)
{
  (void)o, (void)c, (void)b, (void)sigma, (void)incoming, (void)out;
  return refuse();
}
