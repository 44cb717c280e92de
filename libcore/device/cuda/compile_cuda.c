/* compile_cuda.c - NVRTC: machine code of a kernel's text, for the device at hand or for another.
 */
#include <inttypes.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/cuda/driver.h"

/* Names of the host's compilers that the text of graph/weir_scalar.h uses. */
static const char prelude[] =
    "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
    "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
    "typedef int int32_t;\ntypedef unsigned int uint32_t;\n"
    "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n"
    "#define __INT8_TYPE__ signed char\n#define __UINT8_TYPE__ unsigned char\n"
    "#define __INT16_TYPE__ short\n#define __UINT16_TYPE__ unsigned short\n"
    "#define __INT32_TYPE__ int\n#define __UINT32_TYPE__ unsigned int\n"
    "#define __INT64_TYPE__ long long\n#define __UINT64_TYPE__ unsigned long long\n"
    "#define __builtin_memcpy memcpy\n#define __typeof__(value) decltype(value)\n"
    "#define __builtin_sqrtf sqrtf\n#define __builtin_sqrt sqrt\n"
    "#define __builtin_inff() __int_as_float(0x7f800000)\n"
    "#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)\n"
    "#define __builtin_nanf(text) __int_as_float(0x7fc00000)\n"
    "#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000ll)\n"
    "#pragma nv_diag_suppress 161, 177\n"; /* pragmas of host compilers; helpers of others */
static const char written[] = "#define __builtin_fmaf fmaf\n#define __builtin_fma fma\n";
/* The same, but so that PTX shows which multiply-adds the text has written. */
static const char shown[] =
    "static __inline__ __device__ float weir_written_fmaf(float a, float b, float c)\n"
    "{ float y; asm(\"fma.rn.f32 %0, %1, %2, %3;\" : \"=f\"(y) : \"f\"(a), \"f\"(b), \"f\"(c)); "
    "return y; }\n"
    "static __inline__ __device__ double weir_written_fma(double a, double b, double c)\n"
    "{ double y; asm(\"fma.rn.f64 %0, %1, %2, %3;\" : \"=d\"(y) : \"d\"(a), \"d\"(b), \"d\"(c)); "
    "return y; }\n"
    "#define __builtin_fmaf weir_written_fmaf\n#define __builtin_fma weir_written_fma\n";
static const char qualifier[] = "#pragma nv_diag_default 161, 177\nextern \"C\" __global__";

weir_status cuda_target(int major, int minor, char target[48])
{
  const int mine = 10 * major + minor;
  int n = 0, best = 0, *known = NULL;

  if (nvrtcGetNumSupportedArchs(&n) == NVRTC_SUCCESS && n > 0) {
    known = calloc((size_t)n, sizeof *known);
  }
  if (known != NULL && nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS) {
    for (int k = 0; k < n; k++) {
      best = known[k] <= mine && known[k] > best ? known[k] : best;
    }
  }
  free(known);
  if (best == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device cuda: NVRTC does not support a GPU as old as sm_%d", mine);
  }
  (void)snprintf(target, 48, "%s_%d", best == mine ? "sm" : "compute", best);
  return WEIR_OK;
}

/* What NVRTC said, of malloc; NULL: nothing. */
static char *take_log(nvrtcProgram program)
{
  size_t size = 0;

  if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size <= 1) {
    return NULL;
  }
  char *log = malloc(size);
  if (log != NULL && nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) {
    free(log);
    log = NULL;
  }
  return log;
}

static weir_status fail_compile(const weir_device_source *source, const char *target,
                                nvrtcResult result, const char *log)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: kernel %s for %s: %s: %.900s", source->name,
                   target, nvrtcGetErrorString(result), log == NULL ? "" : log);
}

/* Machine code of sm_, PTX of compute_. */
static nvrtcResult take_code(nvrtcProgram program, bool binary, void **out)
{
  size_t size = 0;
  nvrtcResult result = binary ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size);

  if (result != NVRTC_SUCCESS) {
    return result;
  }
  if (weir_alloc((int64_t)size, 1, out) != WEIR_OK) {
    return NVRTC_ERROR_OUT_OF_MEMORY;
  }
  result = binary ? nvrtcGetCUBIN(program, *out) : nvrtcGetPTX(program, *out);
  if (result != NVRTC_SUCCESS) {
    weir_free(out);
  }
  return result;
}

/* Machine code; else PTX. */
static bool is_binary(const char *target)
{
  return strncmp(target, "sm_", 3) == 0;
}

/* The number in front of `what`, 0 where the log does not have it. */
static int64_t number_before(const char *log, const char *what)
{
  const char *at = strstr(log, what);

  while (at != NULL && at > log && at[-1] == ' ') {
    at--;
  }
  while (at != NULL && at > log && at[-1] >= '0' && at[-1] <= '9') {
    at--;
  }
  return at == NULL ? 0 : strtoll(at, NULL, 10);
}

/* Of machine code; PTX has none. */
static weir_status read_usage(const weir_device_source *source, const char *target, const char *log,
                              weir_device_usage *usage)
{
  const bool reported = log != NULL && strstr(log, " registers") != NULL;

  if (reported != is_binary(target) || (log != NULL && strstr(log, "warning") != NULL)) {
    return fail_compile(source, target, NVRTC_SUCCESS, log);
  }
  if (!reported) {
    return WEIR_OK;
  }
  usage->registers = (int)number_before(log, "registers");
  usage->stack_bytes = number_before(log, "bytes stack frame");
  usage->spill_bytes =
      number_before(log, "bytes spill stores") + number_before(log, "bytes spill loads");
  usage->shared_bytes = number_before(log, "bytes smem");
  return WEIR_OK;
}

/* Sums and products stay apart, divisions and roots are rounded correctly: the bits of the host.
 * What NVRTC takes from its cache has no report of usage; older ones have neither cache nor option.
 */
static nvrtcResult run_compiler(nvrtcProgram program, const char *target, bool report)
{
  char architecture[80];
  const char *options[] = {architecture,         "--device-as-default-execution-space",
                           "--fmad=false",       "--prec-div=true",
                           "--prec-sqrt=true",   "--ftz=false",
                           "--ptxas-options=-v", "--no-cache"};
  enum { PLAIN = 6, REPORT = 7, UNCACHED = 8 };

  (void)snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", target);
  if (!report) {
    return nvrtcCompileProgram(program, PLAIN, options);
  }
  const nvrtcResult result = nvrtcCompileProgram(program, UNCACHED, options);
  return result == NVRTC_ERROR_INVALID_OPTION ? nvrtcCompileProgram(program, REPORT, options)
                                              : result;
}

/* Whether the line has the words. */
static bool has_words(const char *line, const char *end, const char *words)
{
  return memmem(line, (size_t)(end - line), words, strlen(words)) != NULL;
}

/* Counts instructions of PTX outside of inline assembly, whose begin and end are lines of their
 * own. */
static void count_instructions(const char *ptx, weir_device_usage *usage)
{
  bool own = false;

  for (const char *line = ptx; *line != '\0'; line += *line == '\n') {
    const char *end = line + strcspn(line, "\n");

    own = (own || has_words(line, end, "// begin inline asm")) &&
          !has_words(line, end, "// end inline asm");
    for (const char *at = line; !own && at < end; at++) {
      usage->fused += strncmp(at, "fma.r", 5) == 0 || strncmp(at, "mad.r", 5) == 0;
      usage->approximate += strncmp(at, ".approx", 7) == 0 || strncmp(at, ".full.f", 7) == 0;
    }
    line = end;
  }
}

static nvrtcResult read_instructions(nvrtcProgram program, weir_device_usage *usage)
{
  void *ptx = NULL;
  const nvrtcResult result = take_code(program, false, &ptx);

  if (result == NVRTC_SUCCESS) {
    count_instructions(ptx, usage);
    weir_free(&ptx);
  }
  return result;
}

static weir_status compile(nvrtcProgram program, const weir_device_source *source,
                           const char *target, void **code, weir_device_usage *usage)
{
  weir_status status = WEIR_OK;
  nvrtcResult result = run_compiler(program, target, usage != NULL && is_binary(target));
  char *log = take_log(program);

  if (result == NVRTC_SUCCESS && code != NULL) {
    result = take_code(program, is_binary(target), code);
  }
  if (result == NVRTC_SUCCESS && usage != NULL && !is_binary(target)) {
    result = read_instructions(program, usage);
  }
  if (result != NVRTC_SUCCESS) {
    status = fail_compile(source, target, result, log);
  } else if (usage != NULL) {
    status = read_usage(source, target, log, usage);
  }
  free(log);
  return status;
}

weir_status cuda_compile(const weir_device_source *source, const char *target, void **code,
                         weir_device_usage *usage)
{
  weir_status status = WEIR_OK;
  nvrtcProgram program = NULL;
  char head[sizeof prelude + sizeof shown];
  char *text = NULL;

  (void)snprintf(head, sizeof head, "%s%s", prelude,
                 usage != NULL && !is_binary(target) ? shown : written);
  WEIR_TRY(weir_device_source_text(source, head, qualifier, &text));
  const nvrtcResult result = nvrtcCreateProgram(&program, text, source->name, 0, NULL, NULL);
  status = result == NVRTC_SUCCESS ? compile(program, source, target, code, usage)
                                   : fail_compile(source, target, result, NULL);
  if (result == NVRTC_SUCCESS) {
    nvrtcDestroyProgram(&program);
  }
  weir_free(&text);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}
