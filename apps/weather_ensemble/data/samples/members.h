/* members.h - which members of an archive are taken: one rule, and one default, for training,
 * predictions, scores and climates; and that a truth is a single one. */
#ifndef WX_MEMBERS_H
#define WX_MEMBERS_H
#include "data/archive/archive.h"

/* The default of every option `first`: all members, the control (number 0) among them. */
enum { WX_FIRST_MEMBER = 0 };
#define WX_FIRST_MEMBER_HELP                                                                \
  "number of the first member that is taken; 0: all, the control among them, which is not " \
  "exchangeable with the others; 1: without it, but for an archive of the control alone"

/* Finds `wanted` members (0: all) from number `first` on: n of them from position `at` on.
 * first 1, all but the control, takes the control where there is nothing else: a deterministic
 * forecast. Fails: WEIR_ERR_CONFIG, naming the key, where there are fewer. */
weir_status wx_members_choose(const wx_archive_info *f, const char *key, int64_t first,
                              int64_t wanted, int64_t *at, int64_t *n) WEIR_CHECKED;
/* Checks that a truth has one member: `key` names the option of its files. Fails: WEIR_ERR_DATA
 * naming the file, its members and what to do. */
weir_status wx_members_check_truth(const wx_archive_info *truth, const char *key) WEIR_CHECKED;
#endif
