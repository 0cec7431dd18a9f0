/*
 * Classes with their methods, and compiled code, as messages to the recorder.
 */
#ifndef CTX_AGENTS_JVM_METHODS_H
#define CTX_AGENTS_JVM_METHODS_H

#include <jvmti.h>
#include <stdint.h>

/* The names, lines and places of the methods of a class that is prepared. */
void ctx_jvm_tell_class(jvmtiEnv *jvmti, jclass class);

/* Code that was made. `inlined` is NULL where the virtual machine does not tell; `lines` then has the method's own places. */
struct ctx_jvm_code {
	jmethodID method; /* NULL: a stub */
	const char *name; /* of a stub */
	const void *address;
	jint size;
	const void *inlined; /* jvmtiCompiledMethodLoadRecordHeader */
	const jvmtiAddrLocationMap *lines;
	jint n_lines;
};
void ctx_jvm_tell_code(const struct ctx_jvm_code *code);

#endif
