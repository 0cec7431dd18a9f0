/*
 * Parts of messages that several have: the class of an object, the stack of the thread that runs; and a wait of that thread.
 */
#ifndef CTX_AGENTS_JVM_PLACES_H
#define CTX_AGENTS_JVM_PLACES_H

#include "agents/jvm_send.h"

#include <jvmti.h>

/* The thread id of the thread that runs. */
uint32_t ctx_jvm_own_tid(void);

/* NULL: it is not known. */
void ctx_jvm_put_class(struct ctx_jvm_message *message, jvmtiEnv *jvmti, jclass class);

/* NULL is the thread that runs. */
void ctx_jvm_put_stack(struct ctx_jvm_message *message, jvmtiEnv *jvmti, jthread thread);

/* A wait that is over, of the thread that runs. */
struct ctx_jvm_wait {
	jobject object; /* NULL: none is known */
	uint64_t begin_ns;
	uint32_t flags; /* CTX_VM_MONITOR_WAIT ... */
	uint32_t owner; /* thread id that had the object when the wait began; 0 unknown */
};
void ctx_jvm_report_wait(jvmtiEnv *jvmti, JNIEnv *jni, const struct ctx_jvm_wait *wait);

#endif
