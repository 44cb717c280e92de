/* members.h - which members of an archive are meant by a first number and a count. */
#ifndef WX_MEMBERS_H
#define WX_MEMBERS_H
#include "data/archive.h"

/* Where `wanted` members (0: all) from number `first` on stand: n of them from place `at` on. first
 * 1, all but the control, takes the control where there is nothing else: a deterministic forecast.
 * Fails: WEIR_ERR_CONFIG, naming the key, where there are fewer. */
weir_status wx_members_choose(const wx_archive_facts *f, const char *key, int64_t first,
                              int64_t wanted, int64_t *at, int64_t *n) WEIR_CHECKED;
#endif
