/* dedloc_priv.h - options of the policy; shares of unequal ranks; reports of ranks. */
#ifndef WEIR_DEDLOC_PRIV_H
#define WEIR_DEDLOC_PRIV_H
#include "comm/weir_request.h"
#include "optim/weir_exchange.h"

struct dedloc_opts {
  int64_t target;
  double timeout;
  weir_real_list bandwidth;
};

/* shares.c: share[i], of 1 in all, of the elements that rank i reduces so that the slowest one is
 * done as early as possible: rank i sends and receives 1 + (ranks - 2) share[i] times all elements,
 * at bandwidth[i] >= 0, one of which is positive; who has none reduces nothing. Returns the largest
 * of these quotients, over ranks with a bandwidth. [ranks] each. Local. */
double dedloc_shares(const double *bandwidth, int ranks, double *share);
/* shares.c: whole numbers of `count` elements in all, by the method of the highest averages. */
void dedloc_split(const double *share, int ranks, int64_t count, int64_t *counts);

/* reports.c: what each rank tells the others of its progress, and copies of the state of one rank
 * for another. */
typedef struct dedloc_reports dedloc_reports;

/* state: as weir_exchange_args. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL. */
weir_status dedloc_reports_create(weir_comm *c, const weir_exchange_part *state, int n_state,
                                  dedloc_reports **out) WEIR_CHECKED;
/* Accepts NULL and nulls. Local. */
void dedloc_reports_destroy(dedloc_reports **r);
/* Tells all ranks that this one has so many contributions to that version, each of so many seconds,
 * > 0, and whether its state has all updates before that version. Local. Fails, as the functions
 * below: WEIR_ERR_EXTERNAL. */
weir_status dedloc_reports_send(dedloc_reports *r, int64_t version, bool valid,
                                int64_t contributions, double step_s) WEIR_CHECKED;
/* Takes what has arrived. */
weir_status dedloc_reports_look(dedloc_reports *r) WEIR_CHECKED;
/* Returns the newest version that another rank has told, -1: none has. */
int64_t dedloc_reports_newest(const dedloc_reports *r);
/* Returns whether the newest report of a rank is of that version. */
bool dedloc_reports_is_at(const dedloc_reports *r, int rank, int64_t version);
/* Returns the contributions of a rank to that version, as far as it has told. */
int64_t dedloc_reports_of(const dedloc_reports *r, int rank, int64_t version);
/* Returns how many it is expected to have at that time of weir_comm_clock if it goes on as it has
 * told; `since`: when the version began. One of which nothing is known: its first. */
int64_t dedloc_reports_expected(const dedloc_reports *r, int rank, int64_t version, double since,
                                double at);
/* Asks a rank that has it for the state of that version, unless this one waits for a state already.
 */
weir_status dedloc_reports_ask(dedloc_reports *r, int64_t version) WEIR_CHECKED;
/* Sends the state, in which all updates before that version are, to a rank that asked for it. */
weir_status dedloc_reports_serve(dedloc_reports *r, int64_t version) WEIR_CHECKED;
/* Takes the state that has arrived, if any: *adopted if it is of that version, else nothing
 * changes. */
weir_status dedloc_reports_adopt(dedloc_reports *r, int64_t version, bool *adopted) WEIR_CHECKED;
/* Completes the states that are under way. Makes the version and the state that of the first rank
 * with the newest one, on all, if they differ or any rank is in doubt. Collective. */
weir_status dedloc_reports_settle(dedloc_reports *r, bool doubt, int64_t *version) WEIR_CHECKED;

#endif
