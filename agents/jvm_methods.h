/*
 * Classes with their methods, and compiled code, as messages to the recorder.
 */
#ifndef CTX_AGENTS_JVM_METHODS_H
#define CTX_AGENTS_JVM_METHODS_H

#include <jvmti.h>
#include <stdint.h>

/* The names, lines and places of the methods of a class that is prepared. */
void ctx_jvm_report_class(jvmtiEnv *jvmti, jclass class);

/* Compiled code, or a stub. `inlined` is NULL where the virtual machine does not report inlining; `lines` then has the method's own places. */
struct ctx_jvm_code {
	jmethodID method; /* NULL: a stub */
	const char *name; /* of a stub */
	const void *address;
	jint size;
	const void *inlined; /* jvmtiCompiledMethodLoadRecordHeader */
	const jvmtiAddrLocationMap *lines;
	jint n_lines;
};
void ctx_jvm_report_code(const struct ctx_jvm_code *code);

#endif
