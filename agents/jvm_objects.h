/*
 * What threads of a virtual machine do with objects: allocations that are sampled by bytes, and waits for monitors, each with the
 * thread's stack of methods. Reported by the thread that does it.
 */
#ifndef CTX_AGENTS_JVM_OBJECTS_H
#define CTX_AGENTS_JVM_OBJECTS_H

#include "runtime/vm_messages.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* What the recorder asks for, and where it listens: "NAME[,heap=BYTES][,sync][,asked]". */
struct ctx_jvm_options {
	char name[128];	     /* of the socket */
	uint64_t heap_bytes; /* between allocations that are reported, on average; 0: none is */
	bool sync;	     /* waits for monitors are reported */
	bool asked;	     /* nothing is reported until the recorder sends an order */
};

/* False: they are not of this form. */
bool ctx_jvm_options_parse(const char *text, struct ctx_jvm_options *ret);

/* What is possible of it, before events are switched on. */
void ctx_jvm_objects_want(const struct ctx_jvm_options *options, const jvmtiCapabilities *possible,
			  jvmtiCapabilities *wanted);

/* Sets the functions of the events. */
void ctx_jvm_objects_set(jvmtiEventCallbacks *callbacks);

/* What needs a virtual machine that runs: who has a monitor, parks of threads. In the live phase, before or after the events. */
void ctx_jvm_objects_begin(jvmtiEnv *jvmti, JNIEnv *jni, const struct ctx_jvm_options *options);

/* Switches the events on that are asked for, or all off. */
void ctx_jvm_objects_enable(jvmtiEnv *jvmti, const struct ctx_jvm_options *options);
void ctx_jvm_objects_disable(jvmtiEnv *jvmti);

#endif
