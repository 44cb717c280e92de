/* members.c - see members.h. */
#include "data/samples/members.h"

weir_status wx_members_choose(const wx_archive_info *f, const char *key, int64_t first,
                              int64_t wanted, int64_t *at, int64_t *n)
{
  const bool control_alone = f->n_members == 1 && f->member[0] == 0 && first == 1;
  int64_t from = 0;

  while (from < f->n_members && f->member[from] < first && !control_alone) {
    from++;
  }
  const int64_t there = f->n_members - from, count = wanted > 0 ? wanted : there;

  if (count < 1 || count > there) {
    return weir_fail(
        WEIR_ERR_CONFIG, "%s: %lld members from number %lld on are asked for and %s has %lld", key,
        (long long)(count < 1 ? 1 : count), (long long)first, f->name, (long long)there);
  }
  *at = from;
  *n = count;
  return WEIR_OK;
}

weir_status wx_members_check_truth(const wx_archive_info *t, const char *key)
{
  return t->n_members == 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: %s: %lld members; a truth has one: select one of numbers %lld to "
                         "%lld, for example with ncks -d realization,0 or grib_copy -w number=0",
                         key, t->name, (long long)t->n_members, (long long)t->member[0],
                         (long long)t->member[t->n_members - 1]);
}
