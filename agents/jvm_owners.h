/*
 * Which thread has a monitor, or a lock of java.util.concurrent, that another one waits for.
 *
 * By the virtual machine's own structures (jvm_hotspot.h), whose memory is read through the kernel: a thread that ends meanwhile is
 * read as unknown, and crashes nothing. OpenJDK 11 to 25; elsewhere owners are unknown.
 */
#ifndef CTX_AGENTS_JVM_OWNERS_H
#define CTX_AGENTS_JVM_OWNERS_H

#include <jvmti.h>
#include <stdint.h>

/* Looks for what it needs; in the live phase. */
void ctx_jvm_owners_init(JNIEnv *jni);

/*
 * The thread id that has the monitor which `thread`, the caller, is about to wait for (MonitorContendedEnter); 0: not known. A read of some
 * words; after new threads a list of all, at most once in 20 ms.
 */
uint32_t ctx_jvm_owner_of_monitor(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/* The thread id of a thread; 0: not known, or it has ended. */
uint32_t ctx_jvm_tid_of(JNIEnv *jni, jthread thread);

#endif
