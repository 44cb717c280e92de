/* device_priv.h - what a row of the device table sees. With weir_device.h it is the interface to
 * libraries that are opened at run time: their hash is compared. */
#ifndef DEVICE_PRIV_H
#define DEVICE_PRIV_H
#include "device/weir_device.h"
#include "device/weir_library.h"

enum { DEVICE_PARAMS = 64 }; /* of a kernel, at most */

/* One array of an arena. */
typedef struct device_array {
  weir_device_arena *arena;
  char *address; /* filled by the row */
  int64_t bytes;
  weir_device_space space;
  int64_t number; /* in messages: counted over the device's life */
  void *state;    /* the row's */
} device_array;

struct weir_device_arena {
  weir_device *device;
  weir_device_space space;
  int64_t n;
  device_array *arrays;
  void *state;
};

/* How many pieces of work of each queue come before. */
typedef struct device_past {
  int64_t of[WEIR_DEVICE_QUEUES];
} device_past;

struct weir_device_queue {
  weir_device *device;
  int slot;        /* in [0, WEIR_DEVICE_QUEUES) */
  int64_t capture; /* of which it is part, 0: none */
  void *state;
};

struct weir_device_event {
  weir_device *device;
  bool recorded;
  int64_t capture;  /* in which it was recorded, 0: none */
  device_past past; /* in that capture */
  void *state;
};

struct weir_device_kernel {
  weir_device *device;
  char *name;
  int n_params;
  int64_t *offsets, *sizes; /* of the arguments, in a block of args_bytes */
  int64_t args_bytes;
  void *state;
};

struct weir_device_capture {
  weir_device *device;
  void *state;
};

/* Bytes [lo, hi) of an array, as a piece of work uses them. */
typedef struct device_use {
  device_array *array;
  int64_t number; /* of the array: tells whether it is still there */
  int64_t lo, hi;
  weir_device_access access;
} device_use;

struct weir_library_call {
  weir_device *device;
  weir_library_spec spec;
  int64_t workspace_bytes; /* filled by the row, as state */
  void *state;
};

typedef enum device_op_kind {
  DEVICE_COPY,
  DEVICE_LAUNCH,
  DEVICE_CALL,
  DEVICE_LIBRARY
} device_op_kind;

/* A copy, a launch, a call of the host or of a library, checked: ranges lie in arrays, sizes are
 * what the device takes. */
typedef struct device_op {
  device_op_kind kind;
  const device_use *uses; /* of a copy: what is written, what is read */
  int n_uses;
  const weir_device_kernel *kernel;
  int grid[3], block[3];
  const char *args; /* values, as kernel->offsets says */
  void (*body)(void *context);
  void *context;
  const weir_library_call *call;
  void *operand[WEIR_LIBRARY_OPERANDS], *workspace;
} device_op;

/* Functions of a row. Contracts: those of weir_device.h, with arguments that have been checked. */
typedef struct weir_device_ops {
  void (*close)(weir_device *);
  weir_status (*arena_create)(weir_device_arena *); /* fills the addresses */
  void (*arena_destroy)(weir_device_arena *);
  void (*poison)(char *memory, int64_t bytes); /* NULL: accesses are not checked */
  weir_status (*queue_create)(weir_device_queue *);
  void (*queue_destroy)(weir_device_queue *);
  weir_status (*queue_sync)(weir_device_queue *);
  weir_status (*queue_wait)(weir_device_queue *, weir_device_event *);
  weir_status (*event_create)(weir_device_event *);
  void (*event_destroy)(weir_device_event *);
  weir_status (*event_record)(weir_device_event *, weir_device_queue *);
  weir_status (*event_sync)(weir_device_event *);
  weir_status (*kernel_create)(weir_device_kernel *, const weir_device_source *);
  void (*kernel_destroy)(weir_device_kernel *);
  /* Fills state and workspace_bytes; NULL: the row has no libraries. */
  weir_status (*library_create)(weir_library_call *);
  void (*library_destroy)(weir_library_call *); /* NULL: nothing to destroy */
  weir_status (*enqueue)(weir_device_queue *, const device_op *);
  weir_status (*capture_begin)(weir_device_queue *);
  /* Also ends one whose queues have not been joined, which may succeed: it is then destroyed. */
  weir_status (*capture_end)(weir_device_queue *, weir_device_capture *);
  weir_status (*replay)(weir_device_capture *, weir_device_queue *);
  void (*capture_destroy)(weir_device_capture *);
} weir_device_ops;

struct weir_device {
  const weir_device_row *row;
  const weir_device_ops *ops;
  weir_device_info info;
  void *state;

  device_array **arrays; /* ordered by address */
  int64_t n_arrays, arrays_capacity, numbers;
  weir_device_queue *queues[WEIR_DEVICE_QUEUES];
  int64_t capture, captures; /* the one under way, 0: none; how many there were */
  weir_device_queue *origin; /* of it */
  weir_device_capture *making;
  device_past past[WEIR_DEVICE_QUEUES]; /* in it: before what a queue is given next */
  device_use *uses;                     /* of the call under way */
  char *args;
  int64_t uses_capacity, args_capacity;
  weir_library_spec *passed; /* library calls that have been compared with plain sums */
  int64_t n_passed, passed_capacity;
};

/* What a library that holds a row exports under the name weir_device_plugin. `abi` stays first. */
typedef struct device_plugin {
  const char *abi; /* WEIR_DEVICE_ABI of its build */
  weir_status (*open)(weir_device *, const weir_device_options *);
  weir_status (*compile)(const char *architecture, const weir_device_source *, weir_device_usage *);
  weir_status (*plan)(const char *properties, const weir_library_spec *, int64_t *workspace);
} device_plugin;

/* The row of that name. Fails: WEIR_ERR_CONFIG, naming those there are. */
weir_status device_find_row(const char *name, const weir_device_row **out) WEIR_CHECKED;

/* Gives the queue a launch or call, whose uses are filled from the ranges. Fails: WEIR_ERR_SHAPE,
 * WEIR_ERR_EXTERNAL. */
weir_status device_enqueue(weir_device_queue *queue, device_op *op, const char *what,
                           const weir_device_range *ranges, int n_ranges) WEIR_CHECKED;
/* How many operands a call has, and the one that it computes. */
int device_library_operands(const weir_library_spec *spec);
int device_library_made(const weir_library_spec *spec);
/* Makes the call with random numbers and compares the result with plain sums. Fails:
 * WEIR_ERR_UNSUPPORTED, naming the element that differs. */
weir_status device_library_check(weir_library_call *call) WEIR_CHECKED;

/* A heap copy of an operation with its uses and arguments. Fails: WEIR_ERR_MEMORY. */
weir_status device_op_clone(const device_op *op, device_op **out) WEIR_CHECKED;
void device_op_free(device_op **op);
#endif
