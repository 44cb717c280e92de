/* coast.c - coasts of the world for maps: data of coast.py. */
#include "report/report_priv.h"

// clang-format off
static const int16_t coast[] = {
#include "report/coast_data.h"
};
// clang-format on

const int16_t *report_coast(int *size)
{
  *size = (int)(sizeof coast / sizeof coast[0]);
  return coast;
}
