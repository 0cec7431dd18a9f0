/*
 * Where OpenJDK's virtual machine has what in its own structures, by the tables that libjvm.so exports for debuggers
 * (vmStructs.hpp). Another virtual machine has none, and its interpreted frames have no names.
 */
#ifndef CTX_AGENTS_JVM_HOTSPOT_H
#define CTX_AGENTS_JVM_HOTSPOT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks for the tables. `version` of Java's specification: 17. */
void ctx_jvm_hotspot_init(JavaVM *jvm, int version);

struct ctx_jvm_bytecode {
	uint64_t method; /* address of the description; 0 unknown */
	uint64_t begin;	 /* address of the bytecode; 0 unknown */
	uint32_t size;
};

/* Where the virtual machine has a method. */
struct ctx_jvm_bytecode ctx_jvm_hotspot_method(jmethodID id);

/*
 * The function of a native method, which is bound already, of `n` bytes: it is in the virtual machine's library. False: it is not, or cannot be
 * found.
 */
bool ctx_jvm_hotspot_native(jmethodID id, void *ret, size_t n);

/* Where in the virtual machine's structures things are. */
struct ctx_jvm_thread_places {
	uint64_t os_thread, pending_monitor, stack_base, stack_bytes; /* in JavaThread */
	uint64_t number;					      /* likewise; 0: threads have none */
	uint64_t tid;						      /* in OSThread */
	uint64_t owner;						      /* in ObjectMonitor */
};

/* False: they are not known. */
bool ctx_jvm_hotspot_threads(struct ctx_jvm_thread_places *ret);

/* "G1", "Parallel", "Serial", "Shenandoah", "Z"; "" unknown. */
const char *ctx_jvm_hotspot_collector(void);

#endif
