/* weir_status.h - failure reports of functions: one code, one message, one trace per thread. */
#ifndef WEIR_STATUS_H
#define WEIR_STATUS_H
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
#define WEIR_STATUS_LIST(X)                                                  \
  X(WEIR_OK,              0, "success")                                      \
  X(WEIR_ERR_CONFIG,      2, "invalid configuration")                   \
  X(WEIR_ERR_DATA,        3, "an input file is missing or malformed")        \
  X(WEIR_ERR_SHAPE,       4, "shapes or dtypes do not agree")                \
  X(WEIR_ERR_MEMORY,      5, "out of host or device memory")                 \
  X(WEIR_ERR_NUMERIC,     6, "numerical error: NaN, no convergence or a missed tolerance")    \
  X(WEIR_ERR_UNSUPPORTED, 7, "not available in this build or device")        \
  X(WEIR_ERR_EXTERNAL,    8, "MPI, CUDA, PETSc, NetCDF or ecCodes failed")   \
  X(WEIR_ERR_STOPPED,     9, "stopped by a signal")                          \
  X(WEIR_ERR_SPACE,      10, "no space left: device, quota or file size limit")
// clang-format on

/* The value is also the exit status of the programs. */
typedef enum weir_status {
#define X(name, code, text) name = code,
  WEIR_STATUS_LIST(X)
#undef X
} weir_status;

#define WEIR_CHECKED __attribute__((warn_unused_result))
#define WEIR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Records code, message and source position for this thread (replacing an earlier record) and
 * returns `code`. */
weir_status weir_fail_at(weir_status code, const char *file, int line, const char *function,
                         const char *format, ...) WEIR_PRINTF(5, 6);
/* Adds one frame to this thread's record and returns `code`. */
weir_status weir_trace_at(weir_status code, const char *file, int line, const char *function);

/* Adds to this thread's record the option of the failed function that avoids the failure (a string
 * literal) and returns `code`. Callers use it to name their own option. */
weir_status weir_fail_option(weir_status code, const char *option);

#define weir_fail(code, ...) weir_fail_at(code, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define WEIR_TRY(call)                                                 \
  do {                                                                 \
    const weir_status try_status_ = (call);                            \
    if (try_status_ != WEIR_OK) {                                      \
      return weir_trace_at(try_status_, __FILE__, __LINE__, __func__); \
    }                                                                  \
  } while (0)

/* For functions with something to free: sets the local variable `status` and jumps to `label`. */
#define WEIR_TRY_GOTO(call, label)                                  \
  do {                                                              \
    status = (call);                                                \
    if (status != WEIR_OK) {                                        \
      status = weir_trace_at(status, __FILE__, __LINE__, __func__); \
      goto label;                                                   \
    }                                                               \
  } while (0)

/* For programming errors only, never for input: prints the condition and aborts. */
#define WEIR_ASSERT(condition) \
  ((condition) ? (void)0 : weir_assert_failed(#condition, __FILE__, __LINE__))
/* What WEIR_ASSERT calls. */
void weir_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn));

/* Returns the message of this thread's last failure, "" without one. Borrowed until the next
 * failure. */
const char *weir_last_message(void);
/* Returns the option that avoids this thread's last failure (weir_fail_option), "" without one. */
const char *weir_last_option(void);
/* Returns a one-line description of a code. */
const char *weir_status_text(weir_status code);
/* Prints the message of this thread's last failure, if there is one. For `main`. */
void weir_print_failure(FILE *out);
/* Prints message and trace of this thread's last failure. For `main`. */
void weir_print_trace(FILE *out);
/* Clears this thread's record. */
void weir_clear_failure(void);

#ifdef __cplusplus
}
#endif
#endif
