#include "formats/jfr/jfr_facts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void ctx_jfr_facts_deinit(struct ctx_jfr_facts *facts)
{
	free(facts->vm_name);
	free(facts->vm_version);
	free(facts->vm_arguments);
	free(facts->java_arguments);
	free(facts->gc);
	*facts = (struct ctx_jfr_facts){0};
}

/* "20 ms", "10000000": ns; 0: none, "everyChunk". */
static uint64_t period_of(const char *text)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {{"ns", 1},		 {"us", 1000},	       {"ms", 1000000}, {"s", 1000000000},
		     {"m", 60000000000}, {"h", 3600000000000}, {"", 1}};
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	if (end == text || text[0] == '-')
		return 0;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < CTX_COUNT_OF(units); i++) {
		if (strcmp(units[i].word, end) == 0)
			return number < CTX_TRACED_WEIGHT_MAX / units[i].ns ? number * units[i].ns : 0;
	}
	return 0;
}

/* async-profiler's clocks; what else it is told to sample is a counter. */
static bool is_clock(const char *event)
{
	static const char *const clocks[] = {"cpu",	  "wall",	"itimer", "ctimer",
					     "cpu-clock", "task-clock", ""};

	for (size_t i = 0; i < CTX_COUNT_OF(clocks); i++) {
		if (strcmp(clocks[i], event) == 0)
			return true;
	}
	return false;
}

static enum ctx_status put_value(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_object *object,
				 enum ctx_jfr_role role, struct ctx_buf *out, struct ctx_err *err)
{
	ctx_buf_clear(out);
	ctx_jfr_text(chunk, &object->values[role], out);
	ctx_buf_put_u8(out, 0);
	return ctx_buf_check(out, err);
}

/* The period of an event of samples: JFR's "period", async-profiler's "interval". */
static enum ctx_status on_setting(struct ctx_jfr_facts *facts, const struct ctx_jfr_chunk *chunk,
				  const struct ctx_jfr_object *object, struct ctx_err *err)
{
	uint32_t class = ctx_jfr_types_find(&chunk->types, object->values[CTX_JFR_ID].number);
	const char *of = class != UINT32_MAX ? chunk->types.classes[class].name : "";
	const struct ctx_jfr_event_type *type = ctx_jfr_event_type(of);
	struct ctx_buf name CTX_AUTO_BUF = {0}, value CTX_AUTO_BUF = {0};
	enum ctx_status status = put_value(chunk, object, CTX_JFR_NAME, &name, err);

	if (status == CTX_OK)
		status = put_value(chunk, object, CTX_JFR_VALUE, &value, err);
	if (status != CTX_OK)
		return status;
	if (strcmp(of, "jdk.ActiveRecording") == 0 && strcmp((char *)name.bytes, "event") == 0)
		facts->is_counting = !is_clock((char *)value.bytes);
	if (type != NULL && type->handler == CTX_JFR_SAMPLE &&
	    (strcmp((char *)name.bytes, "period") == 0 || strcmp((char *)name.bytes, "interval") == 0))
		facts->period_ns[type->metric] = period_of((char *)value.bytes);
	return CTX_OK;
}

static enum ctx_status take_text(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value,
				 char **ret, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_jfr_text(chunk, value, &text);
	free(*ret);
	*ret = ctx_memdup0(text.bytes != NULL ? text.bytes : (const uint8_t *)"", text.n);
	return *ret != NULL && !text.failed ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status on_jvm(struct ctx_jfr_facts *facts, const struct ctx_jfr_chunk *chunk,
			      const struct ctx_jfr_object *object, struct ctx_err *err)
{
	const struct ctx_jfr_value *values = object->values;
	enum ctx_status status = take_text(chunk, &values[CTX_JFR_JVM_NAME], &facts->vm_name, err);

	facts->has_vm = true;
	facts->pid = (int64_t)(values[CTX_JFR_PID].number & INT32_MAX);
	facts->vm_start_ms = values[CTX_JFR_JVM_START].number;
	if (status == CTX_OK)
		status = take_text(chunk, &values[CTX_JFR_JVM_VERSION], &facts->vm_version, err);
	if (status == CTX_OK)
		status = take_text(chunk, &values[CTX_JFR_JVM_ARGUMENTS], &facts->vm_arguments, err);
	if (status == CTX_OK)
		status = take_text(chunk, &values[CTX_JFR_JAVA_ARGUMENTS], &facts->java_arguments, err);
	return status;
}

/* The collector of old objects, as the live recorder names it. */
static enum ctx_status set_gc(struct ctx_jfr_facts *facts, const struct ctx_jfr_chunk *chunk,
			      const struct ctx_jfr_value *value, struct ctx_err *err)
{
	static const struct {
		const char *jfr, *name;
	} known[] = {{"G1Old", "G1"}, {"ParallelOld", "Parallel"}, {"SerialOld", "Serial"}};
	enum ctx_status status = take_text(chunk, value, &facts->gc, err);

	for (size_t i = 0; i < CTX_COUNT_OF(known) && status == CTX_OK; i++) {
		if (strcmp(facts->gc, known[i].jfr) == 0)
			strcpy(facts->gc, known[i].name); /* it is shorter */
	}
	return status;
}

/* Fields that the event does not have are 0. */
static enum ctx_status on_figures(struct ctx_jfr_facts *facts, const struct ctx_jfr_chunk *chunk,
				  const struct ctx_jfr_object *object, struct ctx_err *err)
{
	static const struct {
		enum ctx_jfr_role role;
		enum ctx_vm_figure figure;
	} known[] = {{CTX_JFR_HEAP_USED, CTX_VM_HEAP_USED},
		     {CTX_JFR_MAX_SIZE, CTX_VM_HEAP_MAX},
		     {CTX_JFR_LOADED_CLASSES, CTX_VM_CLASSES},
		     {CTX_JFR_COMPILE_COUNT, CTX_VM_COMPILATIONS}};
	struct ctx_buf text CTX_AUTO_BUF = {0};
	uint64_t spent_ns = ctx_jfr_span_ns(chunk, &object->values[CTX_JFR_TOTAL_TIME_SPENT]);

	for (size_t i = 0; i < CTX_COUNT_OF(known); i++) {
		uint64_t number = object->values[known[i].role].number;

		if (number != 0 && number <= INT64_MAX)
			facts->figures[known[i].figure] = number;
	}
	if (spent_ns != 0 && spent_ns <= INT64_MAX)
		facts->figures[CTX_VM_COMPILE_NS] = spent_ns;
	ctx_jfr_text(chunk, &object->values[CTX_JFR_OLD_COLLECTOR], &text);
	return text.n != 0 ? set_gc(facts, chunk, &object->values[CTX_JFR_OLD_COLLECTOR], err)
			   : ctx_buf_check(&text, err);
}

static void note(struct ctx_jfr_facts *facts, const struct ctx_jfr_event_type *type)
{
	switch (type->handler) {
	case CTX_JFR_SAMPLE:
	case CTX_JFR_BYTES_SAMPLE:
	case CTX_JFR_SLEEP:
		facts->has[type->metric] = true;
		break;
	case CTX_JFR_WAIT:
		facts->has_traced[CTX_TRACED_SYNC] = true;
		break;
	case CTX_JFR_IO:
		facts->has_traced[CTX_TRACED_IO] = true;
		break;
	default:
		break;
	}
}

/* Settings and the VM are told when a recording begins, which may be before its first event. */
static void widen(struct ctx_jfr_facts *facts, const struct ctx_jfr_parsed *event)
{
	uint64_t end_ns = event->begin_ns + event->duration_ns;

	if (ctx_jfr_is_fact(event->type))
		return;
	facts->begin_ns = event->begin_ns < facts->begin_ns ? event->begin_ns : facts->begin_ns;
	facts->end_ns = end_ns > facts->end_ns ? end_ns : facts->end_ns;
	facts->n_events++;
}

enum ctx_status ctx_jfr_facts_read(struct ctx_jfr_facts *facts, const struct ctx_jfr_chunk *chunk,
				   struct ctx_err *err)
{
	struct ctx_jfr_event_map map CTX_CLEANUP(ctx_jfr_event_map_deinit) = {0};
	enum ctx_status status = ctx_jfr_events_map(chunk, &map, err);
	struct ctx_jfr_parsed event;
	size_t at = CTX_JFR_HEADER_BYTES;

	facts->begin_ns = UINT64_MAX;
	while (status == CTX_OK && ctx_jfr_events_next(chunk, &map, &at, &event)) {
		if (!event.is_whole) {
			facts->damaged++;
			continue;
		}
		note(facts, event.type);
		widen(facts, &event);
		if (event.type->handler == CTX_JFR_SETTING)
			status = on_setting(facts, chunk, &event.object, err);
		else if (event.type->handler == CTX_JFR_JVM)
			status = on_jvm(facts, chunk, &event.object, err);
		else if (event.type->handler == CTX_JFR_JVM_FIGURES || event.type->handler == CTX_JFR_HEAP)
			status = on_figures(facts, chunk, &event.object, err);
	}
	return status;
}
