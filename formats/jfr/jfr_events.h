/*
 * The events that are read, by the names of their types, and what they become.
 *
 *	samples       jdk.ExecutionSample, NativeMethodSample, CPUTimeSample; profiler.WallClockSample
 *	allocations   jdk.ObjectAllocationInNewTLAB, OutsideTLAB, Sample; profiler.Malloc, LiveObject: samples of bytes
 *	waits         jdk.JavaMonitorEnter, JavaMonitorWait, ThreadPark: traced operations; jdk.ThreadSleep: samples
 *	input, output jdk.FileRead, FileWrite, SocketRead, SocketWrite: traced operations
 *	intervals     jdk.GCPhasePause, GarbageCollection, ExecuteVMOperation, Safepoint*, Compilation, ClassLoad: marks of the VM's thread
 *	points        jdk.Deoptimization: marks
 *	facts         jdk.JVMInformation, GCConfiguration, GCHeapConfiguration, ClassLoadingStatistics, CompilerStatistics: of the VM
 *	counters      jdk.CPULoad, GCHeapSummary: marks
 */
#ifndef CTX_FORMATS_JFR_JFR_EVENTS_H
#define CTX_FORMATS_JFR_JFR_EVENTS_H

#include "formats/jfr/jfr_names.h"
#include "model/traced.h"

enum ctx_jfr_handler {
	CTX_JFR_IGNORED = 0,
	CTX_JFR_SAMPLE,
	CTX_JFR_BYTES_SAMPLE,
	CTX_JFR_WAIT,
	CTX_JFR_SLEEP,
	CTX_JFR_IO,
	CTX_JFR_INTERVAL,
	CTX_JFR_POINT,
	CTX_JFR_CPU_LOAD,
	CTX_JFR_HEAP,
	CTX_JFR_THREAD_BEGIN,
	CTX_JFR_THREAD_END,
	CTX_JFR_SETTING,
	CTX_JFR_JVM,
	CTX_JFR_JVM_FIGURES, /* what the virtual machine has: the last one counts */
};

enum ctx_jfr_metric {
	CTX_JFR_METRIC_JAVA,
	CTX_JFR_METRIC_NATIVE,
	CTX_JFR_METRIC_CPU,
	CTX_JFR_METRIC_WALL,
	CTX_JFR_METRIC_ALLOCATED,
	CTX_JFR_METRIC_TLAB,
	CTX_JFR_METRIC_LIVE,
	CTX_JFR_METRIC_MALLOC,
	CTX_JFR_METRIC_SLEEP,
	CTX_JFR_METRIC_N,
};

struct ctx_jfr_event_type {
	const char *name;
	enum ctx_jfr_handler handler;
	uint8_t metric;	     /* enum ctx_jfr_metric, of those that are samples */
	uint8_t operation;   /* enum ctx_sync_operation, ctx_io_operation */
	uint8_t weight;	     /* enum ctx_jfr_role: the field of bytes */
	const char *label;   /* of an interval */
	const uint8_t *more; /* fields whose texts follow the label; ends with CTX_JFR_ROLES */
};

/* What is done with events of a type. NULL: nothing. */
const struct ctx_jfr_event_type *ctx_jfr_event_type(const char *name);

/* Whether it says what the recording or the virtual machine is, and is nothing that happens. */
static inline bool ctx_jfr_is_fact(const struct ctx_jfr_event_type *type)
{
	return type->handler >= CTX_JFR_SETTING;
}

struct ctx_jfr_event_map {			 /* all zero is none */
	const struct ctx_jfr_event_type **types; /* owned; by class of a chunk, NULL ignored */
};

CTX_MUST_CHECK enum ctx_status ctx_jfr_events_map(const struct ctx_jfr_chunk *chunk,
						  struct ctx_jfr_event_map *ret, struct ctx_err *err);
void ctx_jfr_event_map_deinit(struct ctx_jfr_event_map *map);

struct ctx_jfr_parsed {
	const struct ctx_jfr_event_type *type;
	struct ctx_jfr_object object;
	uint64_t begin_ns, duration_ns; /* since 1970 */
	bool is_whole;			/* false: damaged, or of times that cannot be */
};

/* The next event from *at that is not ignored. False: none. */
bool ctx_jfr_events_next(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_event_map *map, size_t *at,
			 struct ctx_jfr_parsed *ret);

struct ctx_jfr_metric_type {
	const char *name, *word;
	enum ctx_metric_kind kind;
	enum ctx_unit unit;
};

extern const struct ctx_jfr_metric_type ctx_jfr_metric_types[CTX_JFR_METRIC_N];

#endif
