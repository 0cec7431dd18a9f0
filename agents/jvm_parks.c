#include "agents/jvm_parks.h"

#include "agents/jvm_hotspot.h"
#include "agents/jvm_owners.h"
#include "agents/jvm_places.h"
#include "agents/jvm_send.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UNSAFE "jdk/internal/misc/Unsafe"
#define SYNCHRONIZER "java/util/concurrent/locks/AbstractOwnableSynchronizer"
#define WAIT_MIN_NS 2000u /* a park that is over before was none: its permit was there */

typedef void(JNICALL *park_function)(JNIEnv *jni, jobject unsafe, jboolean is_absolute, jlong time);

static struct {
	jvmtiEnv *jvmti;
	park_function park;  /* the virtual machine's */
	jfieldID blocker;    /* of Thread */
	jclass synchronizer; /* global */
	jfieldID owner;	     /* of it */
	_Atomic bool is_on;
} parks;

static _Thread_local bool binds;

void ctx_jvm_parks_set(bool is_on)
{
	atomic_store(&parks.is_on, is_on);
}

/* What the thread parks for: a lock with an owner, or something else. */
static void look_at(JNIEnv *jni, jthread thread, struct ctx_jvm_wait *wait)
{
	jobject owner;

	wait->object = (*jni)->GetObjectField(jni, thread, parks.blocker);
	if (wait->object == NULL || !(*jni)->IsInstanceOf(jni, wait->object, parks.synchronizer))
		return;
	/* Semaphores and latches have the field, and never an owner. */
	owner = (*jni)->GetObjectField(jni, wait->object, parks.owner);
	if (owner == NULL)
		return;
	wait->owner = ctx_jvm_tid_of(jni, owner);
	(*jni)->DeleteLocalRef(jni, owner);
	wait->flags |= CTX_VM_MONITOR_OWNED;
}

static void JNICALL park(JNIEnv *jni, jobject unsafe, jboolean is_absolute, jlong time)
{
	struct ctx_jvm_wait wait = {.flags = CTX_VM_MONITOR_PARK};
	jthread thread = NULL;
	uint64_t duration_ns;

	if (!atomic_load(&parks.is_on) || !ctx_jvm_is_connected() ||
	    (*parks.jvmti)->GetCurrentThread(parks.jvmti, &thread) != JVMTI_ERROR_NONE || thread == NULL) {
		parks.park(jni, unsafe, is_absolute, time);
		return;
	}
	look_at(jni, thread, &wait);
	wait.begin_ns = ctx_jvm_now();
	parks.park(jni, unsafe, is_absolute, time);
	duration_ns = ctx_jvm_now() - wait.begin_ns;
	if (!is_absolute && time > 0 && duration_ns >= (uint64_t)time)
		wait.flags |= CTX_VM_MONITOR_TIMED_OUT;
	/* An exception that stops the thread would be met by what is asked now. */
	if (duration_ns >= WAIT_MIN_NS && !(*jni)->ExceptionCheck(jni))
		ctx_jvm_report_wait(parks.jvmti, jni, &wait);
	(*jni)->DeleteLocalRef(jni, wait.object);
	(*jni)->DeleteLocalRef(jni, thread);
}

static jfieldID field_of(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	return class != NULL ? (*jni)->GetFieldID(jni, class, name, type) : NULL;
}

/* False: this virtual machine has them elsewhere. */
static bool find_classes(JNIEnv *jni)
{
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
	jclass synchronizer = thread != NULL ? (*jni)->FindClass(jni, SYNCHRONIZER) : NULL;

	parks.blocker = field_of(jni, thread, "parkBlocker", "Ljava/lang/Object;");
	if (parks.blocker != NULL)
		parks.owner = field_of(jni, synchronizer, "exclusiveOwnerThread", "Ljava/lang/Thread;");
	if (parks.owner != NULL)
		parks.synchronizer = (*jni)->NewGlobalRef(jni, synchronizer);
	(*jni)->DeleteLocalRef(jni, thread);
	(*jni)->DeleteLocalRef(jni, synchronizer);
	return parks.synchronizer != NULL;
}

static void bind_park(JNIEnv *jni)
{
	static char name[] = "park", signature[] = "(ZJ)V";
	jclass unsafe = (*jni)->FindClass(jni, UNSAFE);
	jmethodID method = unsafe != NULL ? (*jni)->GetMethodID(jni, unsafe, name, signature) : NULL;
	JNINativeMethod native = {name, signature, NULL};
	const park_function own = park;

	memcpy(&native.fnPtr, &own, sizeof(own));
	if (method != NULL && ctx_jvm_hotspot_native(method, &parks.park, sizeof(parks.park)) &&
	    (*jni)->RegisterNatives(jni, unsafe, &native, 1) != JNI_OK)
		parks.park = NULL;
	(*jni)->DeleteLocalRef(jni, unsafe);
}

bool ctx_jvm_parks_on_wait(JNIEnv *jni)
{
	if (!binds)
		return false;
	binds = false;
	bind_park(jni);
	return true;
}

/*
 * The virtual machine prints a warning to its output where a method of its own classes is bound by code that none of these classes has called. So it
 * is done in the event of a wait that Thread.join(1) begins.
 */
static void bind_in_wait(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID join = class != NULL ? (*jni)->GetMethodID(jni, class, "join", "(J)V") : NULL;
	jthread thread = NULL;

	if (join == NULL || (*jvmti)->GetCurrentThread(jvmti, &thread) != JVMTI_ERROR_NONE)
		return;
	if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_MONITOR_WAIT, thread) ==
	    JVMTI_ERROR_NONE) {
		binds = true;
		(*jni)->CallVoidMethod(jni, thread, join, (jlong)1);
		binds = false;
		(void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_MONITOR_WAIT,
							 thread);
	}
	(*jni)->DeleteLocalRef(jni, thread);
	(*jni)->DeleteLocalRef(jni, class);
}

void ctx_jvm_parks_bind(jvmtiEnv *jvmti, JNIEnv *jni)
{
	if (parks.park != NULL)
		return;
	parks.jvmti = jvmti;
	if (find_classes(jni))
		bind_in_wait(jvmti, jni);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
}
