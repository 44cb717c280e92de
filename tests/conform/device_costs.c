/* device_costs.c - what copies, launches and events cost on the devices named (default: cpu, cuda):
 * one table in Markdown. Ends with 77 where a device that was named is not there. */
#include <stdio.h>
#include "device/weir_device.h"

static void print_costs(const weir_device *device, int64_t bytes, const weir_device_costs *c)
{
  const weir_device_info *info = weir_device_info_get(device);

  printf("| %s | %s%s%s | %lld | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f |\n",
         weir_device_name(device), info->model, info->architecture[0] != 0 ? ", " : "",
         info->architecture, (long long)(bytes >> 20), c->copy * 1e-9, c->map * 1e-9,
         c->upload * 1e-9, c->download * 1e-9, c->both * 1e-9, c->launch * 1e6, c->replay * 1e6,
         c->event * 1e6, c->sync * 1e6);
}

static int measure(const char *name)
{
  const int64_t bytes = INT64_C(1) << 28;
  weir_device *device = NULL;
  weir_device_costs costs = {0};

  if (weir_device_open(name, NULL, &device) != WEIR_OK) {
    fprintf(stderr, "%s: not available: %s\n", name, weir_last_message());
    return 77;
  }
  const weir_status status = weir_device_measure(device, bytes, &costs);
  if (status == WEIR_OK) {
    print_costs(device, bytes, &costs);
  } else {
    weir_print_trace(stderr);
  }
  weir_device_close(&device);
  return status == WEIR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
  int worst = 0;

  printf(
      "| device | model | MiB copied | copy inside, GB/s (read + written) | launch of a map, GB/s "
      "(read + written) | staging to device, "
      "GB/s "
      "| device to staging, GB/s | both ways at once, GB/s | launch, us | launch in a replay, us | "
      "event recorded and waited "
      "for, us | launch that the host waits for, us "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 1; k < argc || (argc == 1 && k <= 2); k++) {
    const int code = measure(argc > 1 ? argv[k] : k == 1 ? "cpu" : "cuda");
    worst = code > worst ? code : worst;
  }
  return worst;
}
