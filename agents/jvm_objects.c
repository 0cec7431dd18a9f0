#include "agents/jvm_objects.h"

#include "agents/jvm_owners.h"
#include "agents/jvm_parks.h"
#include "agents/jvm_places.h"
#include "agents/jvm_send.h"

#include <stdlib.h>
#include <string.h>

#define HEAP "heap="
#define SYNC "sync"
#define ASKED "asked"
#define HEAP_BYTES_MIN 1024u
#define HEAP_BYTES_MAX ((uint64_t)1 << 30)

static const jvmtiEvent of_heap[] = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC};
static const jvmtiEvent of_sync[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
				     JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
				     JVMTI_EVENT_MONITOR_WAITED};

#define HEAP_N (sizeof(of_heap) / sizeof(*of_heap))
#define SYNC_N (sizeof(of_sync) / sizeof(*of_sync))

/* When the thread began to wait; a wait that enters the monitor again may meet contention. */
static _Thread_local uint64_t contended_ns, waiting_ns;
static _Thread_local uint32_t owner; /* of what it contends for */

static bool parse_word(const char *word, struct ctx_jvm_options *ret)
{
	char *end;

	if (strcmp(word, SYNC) == 0 || strcmp(word, ASKED) == 0) {
		*(strcmp(word, SYNC) == 0 ? &ret->sync : &ret->asked) = true;
		return true;
	}
	if (strncmp(word, HEAP, strlen(HEAP)) != 0)
		return false;
	ret->heap_bytes = strtoull(word + strlen(HEAP), &end, 10);
	return *end == '\0' && ret->heap_bytes >= HEAP_BYTES_MIN && ret->heap_bytes <= HEAP_BYTES_MAX;
}

bool ctx_jvm_options_parse(const char *text, struct ctx_jvm_options *ret)
{
	char copy[sizeof(ret->name)], *rest = copy, *word;

	*ret = (struct ctx_jvm_options){0};
	if (strlen(text) >= sizeof(copy))
		return false;
	memcpy(copy, text, strlen(text) + 1);
	word = strsep(&rest, ",");
	memcpy(ret->name, word, strlen(word) + 1);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (!parse_word(word, ret))
			return false;
	}
	return true;
}

void ctx_jvm_objects_want(const struct ctx_jvm_options *options, const jvmtiCapabilities *possible,
			  jvmtiCapabilities *wanted)
{
	wanted->can_generate_sampled_object_alloc_events =
		options->heap_bytes != 0 && possible->can_generate_sampled_object_alloc_events;
	wanted->can_generate_monitor_events = options->sync && possible->can_generate_monitor_events;
}

/* --- events --- */

static void JNICALL on_allocation(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class,
				  jlong size)
{
	struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_ALLOCATION);

	(void)jni;
	(void)object;
	if (message == NULL)
		return;
	ctx_jvm_put_u32(message, ctx_jvm_own_tid());
	ctx_jvm_put_u64(message, (uint64_t)size);
	ctx_jvm_put_class(message, jvmti, class);
	ctx_jvm_put_stack(message, jvmti, thread);
	ctx_jvm_send(message);
}

static void JNICALL on_contended(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	(void)object;
	contended_ns = ctx_jvm_now();
	owner = ctx_jvm_owner_of_monitor(jvmti, jni, thread);
}

static void JNICALL on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	(void)thread;
	if (contended_ns != 0)
		ctx_jvm_report_wait(
			jvmti, jni,
			&(struct ctx_jvm_wait){.object = object, .begin_ns = contended_ns, .owner = owner});
	contended_ns = 0;
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jlong timeout)
{
	(void)jvmti;
	(void)thread;
	(void)object;
	(void)timeout;
	waiting_ns = ctx_jvm_parks_on_wait(jni) ? 0 : ctx_jvm_now();
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			      jboolean timed_out)
{
	(void)thread;
	if (waiting_ns != 0)
		ctx_jvm_report_wait(
			jvmti, jni,
			&(struct ctx_jvm_wait){.object = object,
					       .begin_ns = waiting_ns,
					       .flags = CTX_VM_MONITOR_WAIT |
							(timed_out ? CTX_VM_MONITOR_TIMED_OUT : 0u)});
	waiting_ns = 0;
}

/* --- which are on --- */

void ctx_jvm_objects_set(jvmtiEventCallbacks *callbacks)
{
	callbacks->SampledObjectAlloc = on_allocation;
	callbacks->MonitorContendedEnter = on_contended;
	callbacks->MonitorContendedEntered = on_entered;
	callbacks->MonitorWait = on_wait;
	callbacks->MonitorWaited = on_waited;
}

static void set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, const jvmtiEvent *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)(*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL);
}

void ctx_jvm_objects_begin(jvmtiEnv *jvmti, JNIEnv *jni, const struct ctx_jvm_options *options)
{
	if (!options->sync)
		return;
	ctx_jvm_owners_init(jni);
	ctx_jvm_parks_bind(jvmti, jni);
}

/* What the virtual machine is not capable of is refused by it, and not reported. */
void ctx_jvm_objects_enable(jvmtiEnv *jvmti, const struct ctx_jvm_options *options)
{
	if (options->heap_bytes != 0 &&
	    (*jvmti)->SetHeapSamplingInterval(jvmti, (jint)options->heap_bytes) == JVMTI_ERROR_NONE)
		set_mode(jvmti, JVMTI_ENABLE, of_heap, HEAP_N);
	if (options->sync)
		set_mode(jvmti, JVMTI_ENABLE, of_sync, SYNC_N);
	ctx_jvm_parks_set(options->sync);
}

void ctx_jvm_objects_disable(jvmtiEnv *jvmti)
{
	set_mode(jvmti, JVMTI_DISABLE, of_heap, HEAP_N);
	set_mode(jvmti, JVMTI_DISABLE, of_sync, SYNC_N);
	ctx_jvm_parks_set(false);
}
