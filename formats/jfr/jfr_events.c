#include "formats/jfr/jfr_events.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t name_and_cause[] = {CTX_JFR_NAME, CTX_JFR_CAUSE, CTX_JFR_ROLES};
static const uint8_t operation[] = {CTX_JFR_OPERATION, CTX_JFR_ROLES};
static const uint8_t nothing[] = {CTX_JFR_ROLES};

#define SAMPLE_OF(type, of)                                                                                  \
	{                                                                                                    \
		.name = (type), .handler = CTX_JFR_SAMPLE, .metric = (of)                                    \
	}
#define BYTES_OF(type, of, field)                                                                            \
	{                                                                                                    \
		.name = (type), .handler = CTX_JFR_BYTES_SAMPLE, .metric = (of), .weight = (field)           \
	}
#define WAIT_OF(type, how)                                                                                   \
	{                                                                                                    \
		.name = (type), .handler = CTX_JFR_WAIT, .operation = (how)                                  \
	}
#define IO_OF(type, how, field)                                                                              \
	{                                                                                                    \
		.name = (type), .handler = CTX_JFR_IO, .operation = (how), .weight = (field)                 \
	}
#define INTERVAL_OF(type, text, fields)                                                                      \
	{                                                                                                    \
		.name = (type), .handler = CTX_JFR_INTERVAL, .label = (text), .more = (fields)               \
	}

static const struct ctx_jfr_event_type types[] = {
	SAMPLE_OF("jdk.ExecutionSample", CTX_JFR_METRIC_JAVA),
	SAMPLE_OF("jdk.NativeMethodSample", CTX_JFR_METRIC_NATIVE),
	SAMPLE_OF("jdk.CPUTimeSample", CTX_JFR_METRIC_CPU),
	SAMPLE_OF("profiler.WallClockSample", CTX_JFR_METRIC_WALL),
	BYTES_OF("jdk.ObjectAllocationSample", CTX_JFR_METRIC_ALLOCATED, CTX_JFR_WEIGHT),
	BYTES_OF("jdk.ObjectAllocationInNewTLAB", CTX_JFR_METRIC_TLAB, CTX_JFR_TLAB_SIZE),
	BYTES_OF("jdk.ObjectAllocationOutsideTLAB", CTX_JFR_METRIC_TLAB, CTX_JFR_ALLOCATION_SIZE),
	BYTES_OF("profiler.LiveObject", CTX_JFR_METRIC_LIVE, CTX_JFR_ALLOCATION_SIZE),
	BYTES_OF("profiler.Malloc", CTX_JFR_METRIC_MALLOC, CTX_JFR_SIZE),
	WAIT_OF("jdk.JavaMonitorEnter", CTX_SYNC_MUTEX),
	WAIT_OF("jdk.JavaMonitorWait", CTX_SYNC_CONDITION),
	WAIT_OF("jdk.ThreadPark", CTX_SYNC_WAIT),
	{.name = "jdk.ThreadSleep", .handler = CTX_JFR_SLEEP, .metric = CTX_JFR_METRIC_SLEEP},
	IO_OF("jdk.FileRead", CTX_IO_READ, CTX_JFR_BYTES_READ),
	IO_OF("jdk.FileWrite", CTX_IO_WRITE, CTX_JFR_BYTES_WRITTEN),
	IO_OF("jdk.SocketRead", CTX_IO_READ, CTX_JFR_BYTES_READ),
	IO_OF("jdk.SocketWrite", CTX_IO_WRITE, CTX_JFR_BYTES_WRITTEN),
	INTERVAL_OF("jdk.GarbageCollection", "GC", name_and_cause),
	INTERVAL_OF("jdk.GCPhasePause", "GC Phase Pause", nothing),
	INTERVAL_OF("jdk.ExecuteVMOperation", "VM Operation", operation),
	INTERVAL_OF("jdk.SafepointBegin", "Safepoint Begin", nothing),
	INTERVAL_OF("jdk.SafepointStateSynchronization", "Safepoint State Synchronization", nothing),
	INTERVAL_OF("jdk.SafepointCleanup", "Safepoint Cleanup", nothing),
	INTERVAL_OF("jdk.SafepointEnd", "Safepoint End", nothing),
	INTERVAL_OF("jdk.Compilation", "Compilation", nothing),
	INTERVAL_OF("jdk.ClassLoad", "Class Load", nothing),
	{.name = "jdk.Deoptimization", .handler = CTX_JFR_POINT, .label = "Deoptimization", .more = nothing},
	{.name = "jdk.CPULoad", .handler = CTX_JFR_CPU_LOAD},
	{.name = "jdk.GCHeapSummary", .handler = CTX_JFR_HEAP},
	{.name = "jdk.ThreadStart", .handler = CTX_JFR_THREAD_BEGIN},
	{.name = "jdk.ThreadEnd", .handler = CTX_JFR_THREAD_END},
	{.name = "jdk.ActiveSetting", .handler = CTX_JFR_SETTING},
	{.name = "jdk.JVMInformation", .handler = CTX_JFR_JVM},
	{.name = "jdk.GCConfiguration", .handler = CTX_JFR_JVM_FIGURES},
	{.name = "jdk.GCHeapConfiguration", .handler = CTX_JFR_JVM_FIGURES},
	{.name = "jdk.ClassLoadingStatistics", .handler = CTX_JFR_JVM_FIGURES},
	{.name = "jdk.CompilerStatistics", .handler = CTX_JFR_JVM_FIGURES},
};

const struct ctx_jfr_metric_type ctx_jfr_metric_types[CTX_JFR_METRIC_N] = {
	[CTX_JFR_METRIC_JAVA] = {"Java Execution", "java", CTX_METRIC_CPU_TIME, CTX_UNIT_NS},
	[CTX_JFR_METRIC_NATIVE] = {"Java in Native Methods", "javanative", CTX_METRIC_THREAD_TIME,
				   CTX_UNIT_NS},
	[CTX_JFR_METRIC_CPU] = {"Java CPU Time", "javacpu", CTX_METRIC_CPU_TIME, CTX_UNIT_NS},
	[CTX_JFR_METRIC_WALL] = {"Wall Clock", "wallclock", CTX_METRIC_THREAD_TIME, CTX_UNIT_NS},
	[CTX_JFR_METRIC_ALLOCATED] = {"Java Bytes Allocated", "javabytes", CTX_METRIC_BYTES, CTX_UNIT_BYTES},
	[CTX_JFR_METRIC_TLAB] = {"Java Bytes by TLABs", "tlabbytes", CTX_METRIC_BYTES, CTX_UNIT_BYTES},
	[CTX_JFR_METRIC_LIVE] = {"Java Bytes Live", "livebytes", CTX_METRIC_BYTES, CTX_UNIT_BYTES},
	[CTX_JFR_METRIC_MALLOC] = {"Native Bytes Allocated", "mallocbytes", CTX_METRIC_BYTES, CTX_UNIT_BYTES},
	[CTX_JFR_METRIC_SLEEP] = {"Java Sleep", "javasleep", CTX_METRIC_DURATION, CTX_UNIT_NS},
};

const struct ctx_jfr_event_type *ctx_jfr_event_type(const char *name)
{
	for (size_t i = 0; i < CTX_COUNT_OF(types); i++) {
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	}
	return NULL;
}

enum ctx_status ctx_jfr_events_map(const struct ctx_jfr_chunk *chunk, struct ctx_jfr_event_map *ret,
				   struct ctx_err *err)
{
	ret->types = ctx_calloc(chunk->types.n_classes + 1, sizeof(*ret->types));
	if (ret->types == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < chunk->types.n_classes; i++)
		ret->types[i] = ctx_jfr_event_type(chunk->types.classes[i].name);
	return CTX_OK;
}

void ctx_jfr_event_map_deinit(struct ctx_jfr_event_map *map)
{
	free(map->types);
	map->types = NULL;
}

bool ctx_jfr_events_next(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_event_map *map, size_t *at,
			 struct ctx_jfr_parsed *ret)
{
	struct ctx_jfr_event event;

	while (ctx_jfr_chunk_next(chunk, at, &event)) {
		ret->type = map->types[event.class];
		if (ret->type == NULL)
			continue;
		ret->is_whole = ctx_jfr_read(chunk, event.class, &event.fields, &ret->object);
		ret->begin_ns = ctx_jfr_time_ns(chunk, ret->object.values[CTX_JFR_START].number);
		ret->duration_ns = ctx_jfr_span_ns(chunk, &ret->object.values[CTX_JFR_DURATION]);
		if (ret->duration_ns > CTX_TRACED_WEIGHT_MAX || ret->begin_ns > INT64_MAX - ret->duration_ns)
			ret->is_whole = false;
		return true;
	}
	return false;
}
