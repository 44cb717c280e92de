/* options.c - the section `site:`. */
#include "site/model.h"

const weir_opt ps_site_options[] = {
    WEIR_OPT_STRING_LIST(ps_site_opts, records, "",
                         "site prepare: records that go into the dataset"),
    WEIR_OPT_STRING(ps_site_opts, signal, "",
                    "site prepare: signal by name or index; empty: the first in mV"),
    WEIR_OPT_STRING(ps_site_opts, annotator, "atr", "suffix of the reference annotations"),
    WEIR_OPT_ENUM(ps_site_opts, dates, PS_SITE_DATES_DROP, "drop|shift",
                  "site prepare: leave dates and times of day out, or move all of them by one "
                  "number of days drawn from the seed"),
    WEIR_OPT_PATH(ps_site_opts, dataset, "",
                  "folder that site prepare made: what check, stats and eval read"),
    WEIR_OPT_STRING_LIST(ps_site_opts, reports, "", "site merge: the reports of the sites"),
    WEIR_OPT_INT(
        ps_site_opts, min_cell, 5, 1, 1000, "1",
        "a report of fewer records has no figures, and statistics leave out each value that "
        "fewer records contribute to"),
    WEIR_OPT_BOOL(ps_site_opts, approve, false,
                  "a person has read the report and lets it leave the site"),
    WEIR_OPT_BOOL(ps_site_opts, per_record, false,
                  "site eval: the report also has the counts of each record, without its name, for "
                  "averages over records; without it only sums leave the site"),
    WEIR_OPT_REAL(ps_site_opts, max_missing, 0.5, 0, 1, "1",
                  "site check: largest share of absent samples", .alias = "most_missing"),
    WEIR_OPT_REAL(ps_site_opts, range, 20, 0, 1e6, "mV", "site check: largest magnitude"),
    WEIR_OPT_REAL(ps_site_opts, min_rate, 100, 0, 1e6, "Hz", "site check: lowest sampling rate",
                  .alias = "least_rate"),
    WEIR_OPT_BOOL(ps_site_opts, attributes, false,
                  "site prepare: keep age (90 for 90 and more), sex and site.diagnoses of the "
                  "headers, for cohorts (ATTRIBUTES.csv)"),
    WEIR_OPT_STRING_LIST(ps_site_opts, diagnoses, "",
                         "site prepare: codes or words of diagnoses that are kept as yes or no"),
    WEIR_OPT_PATH(ps_site_opts, benchmark, "", "site approve, run: file of the benchmark"),
    WEIR_OPT_PATH(ps_site_opts, model, "", "site approve, run: folder of the model (mlcube.yaml)"),
    WEIR_OPT_STRING_LIST(ps_site_opts, approvals, "",
                         "site run: approvals of committee, model_owner and data_owner"),
    WEIR_OPT_ENUM(ps_site_opts, role, PS_ROLE_DATA_OWNER, "committee|model_owner|data_owner",
                  "site approve: for whom"),
    WEIR_OPT_STRING(ps_site_opts, person, "", "site approve: name of the person who approves"),
    WEIR_OPT_STRING_LIST(ps_site_opts, folders,
                         "/usr, /bin, /lib, /lib32, /lib64, /etc/ld.so.cache, /etc/alternatives",
                         "site run: files and folders of this machine that the model sees, "
                         "read-only; those that do not exist are left out"),
    WEIR_OPT_TABLE(ps_site_opts, limits, ps_sandbox_options,
                   "site run: limits of the model; exceeding one ends it"),
    WEIR_OPT_END,
};
