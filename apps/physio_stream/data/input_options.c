/* input_options.c - the options of the input, see input.h. */
#include "data/checksums.h"
#include "data/input.h"

const weir_opt ps_input_options[] = {
    WEIR_OPT_PATH(
        ps_input_opts, record, "",
        "WFDB record (path without suffix, or of its .hea file), or an .edf, .bdf, .nc, "
        ".dcm (DICOM waveform) or .xml (annotated ECG of HL7, MUSE of GE, Philips) file; or "
        "physionet:DATABASE/VERSION/RECORD below input.physionet; "
        "empty, with csv empty too: the built-in recording, if an option of ecgsyn is stated"),
    WEIR_OPT_STRING(ps_input_opts, live, "",
                    "address of live samples (docs/reference/live.md): - the standard input, "
                    "tcp:[HOST:]PORT, unix:PATH"),
    WEIR_OPT_STRING_LIST(
        ps_input_opts, records, "",
        "several records, or files RECORDS that list some: each is run for itself, "
        "into a folder of its name"),
    WEIR_OPT_ENUM(ps_input_opts, missing, PS_MISSING_REFUSED, "refused|left_out",
                  "recordings that input.records, beats.records or beats.test list and of which "
                  "there is no file: refused, or left out with a message that names them"),
    WEIR_OPT_PATH(
        ps_input_opts, physionet, "",
        "folder of PhysioNet databases as they are downloaded, DATABASE/VERSION/...: where "
        "records physionet:DATABASE/VERSION/RECORD are; their files have to be listed in "
        "the database's SHA256SUMS.txt, with the digests that they have"),
    WEIR_OPT_ENUM(
        ps_input_opts, checksums, PS_CHECKSUMS_LISTED, "listed|required|ignored",
        "comparison of a recording with the SHA256SUMS.txt of its folder or one above: "
        "files that it lists; required: all files have to be listed, and the checksums of "
        "a WFDB header have to agree; ignored: none"),
    WEIR_OPT_PATH(ps_input_opts, csv, "", "text file, columns of samples (.csv or .txt)"),
    WEIR_OPT_STRING(
        ps_input_opts, signal, "",
        "signal by name or index; empty: the first in mV, else the only voltage or only signal"),
    WEIR_OPT_STRING(ps_input_opts, unit, "",
                    "unit that the signal is read in: converted where its file states another of "
                    "the same quantity (another quantity is refused), stated where the file has "
                    "none; empty: the file's, for beats mV where it is a voltage; of a query: "
                    "query.streams.unit"),
    WEIR_OPT_REAL(
        ps_input_opts, from, 0, 0, 1e9, "s",
        "begin of what is read of each recording: what lies before it is a gap, and times "
        "and sample numbers stay those of the whole recording; eval: of what is scored"),
    WEIR_OPT_REAL(ps_input_opts, to, 0, 0, 1e9, "s",
                  "end of what is read or scored (s), exclusive; 0: the end of the recording"),
    WEIR_OPT_REAL(
        ps_input_opts, fs, 0, 0, 1e6, "Hz",
        "sampling rate of a text file without a time column, refused for other input; 0: the file "
        "must say"),
    WEIR_OPT_BOOL(ps_input_opts, allow_short, false,
                  "read what exists of a truncated file; the rest is a gap"),
    WEIR_OPT_BOOL(ps_input_opts, zero_gain, false,
                  "read a gain of 0 (uncalibrated) as 200 per unit instead of refusing it"),
    WEIR_OPT_BOOL(ps_input_opts, derived_leads, false,
                  "of an ECG in XML: compute those of leads III, aVR, aVL and aVF that it does not "
                  "have from its leads I and II"),
    WEIR_OPT_REAL(ps_input_opts, lateness, 2, 0, 3600, "s",
                  "live: maximum delay of a sample relative to the newest; later ones are dropped, "
                  "and results wait for this long"),
    WEIR_OPT_REAL(ps_input_opts, tolerance, 0, 0, 3600, "s",
                  "live: how far a sample's time may be off its slot; 0: half of the period, which "
                  "none exceeds"),
    WEIR_OPT_REAL(ps_input_opts, max_ahead, 3600, 0.001, 1e9, "s",
                  "live: a sample farther ahead of the newest is dropped, for a clock gone wrong "
                  "would make all that follow late",
                  .alias = "jump"),
    WEIR_OPT_REAL(ps_input_opts, timeout, 0, 0, 1e9, "s",
                  "live: time without any line after which the input has ended, also before the "
                  "first; 0: wait without limit"),
    WEIR_OPT_INT(ps_input_opts, max_bad_lines, 10000, 0, 1e15, "1",
                 "live: consecutive unusable lines after which the input is refused; 0: never",
                 .alias = "limit"),
    WEIR_OPT_BOOL(ps_input_opts, remote, false,
                  "live: listen on other addresses than those of this machine too; nothing is "
                  "encrypted"),
    WEIR_OPT_END,
};
