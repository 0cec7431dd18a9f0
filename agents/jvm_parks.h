/*
 * LockSupport.park: waits of java.util.concurrent, which JVMTI has no event for.
 *
 * The native method park of Unsafe is bound to a function of the agent (RegisterNatives) that calls the old one, takes the time, and reports
 * the wait with the object that the thread parked for. When the recorder has gone it calls the old one and nothing else.
 */
#ifndef CTX_AGENTS_JVM_PARKS_H
#define CTX_AGENTS_JVM_PARKS_H

#include <jvmti.h>
#include <stdbool.h>

/* Binds it, once; where that is not possible parks are not reported. In the live phase. */
void ctx_jvm_parks_bind(jvmtiEnv *jvmti, JNIEnv *jni);

/* The thread begins to wait in Object.wait(). True: that was the wait in which the method is bound. */
bool ctx_jvm_parks_on_wait(JNIEnv *jni);

/* Whether parks are reported. */
void ctx_jvm_parks_set(bool is_on);

#endif
