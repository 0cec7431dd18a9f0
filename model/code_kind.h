/*
 * Kinds of code: what runs a function, for views (report/view_rules.h).
 *
 *	source: struct ctx_event_function, struct ctx_map_event --> struct ctx_function_info.code_kind +
 *	names of functions and load objects ---------------------------------------------------------+--> ctx_code_kind_of (model/code_kind_of.h)
 *
 * Source: requirements E12, E13.
 */
#ifndef CTX_MODEL_CODE_KIND_H
#define CTX_MODEL_CODE_KIND_H

#include <stdbool.h>

/* The numbers are in databases: they are added to, never changed. */
enum ctx_code_kind {
	CTX_CODE_NATIVE = 0,	   /* programs, libraries, the kernel; or not known */
	CTX_CODE_JAVA,		   /* a method; how it runs is unknown */
	CTX_CODE_JAVA_INTERPRETED, /* by the virtual machine's interpreter */
	CTX_CODE_JAVA_COMPILED,
	CTX_CODE_JAVA_INLINED, /* into the compiled method that is its caller */
	CTX_CODE_JAVA_NATIVE,  /* a method in native code */
	CTX_CODE_JVM,	       /* the virtual machine's own code, its stubs and interpreter */
	CTX_CODE_JVM_MISSING,  /* no code: a mark where methods ran whose stack could not be read */
	CTX_CODE_PYTHON,       /* a function of Python */
	CTX_CODE_PYTHON_VM,    /* the interpreter's own code */
	CTX_CODE_PYTHON_EVAL,  /* its function that runs functions of Python */
	CTX_CODE_OMP_RUNTIME,  /* an OpenMP runtime */
	CTX_CODE_OMP_OUTLINED, /* what compilers make of parallel regions and tasks */
	CTX_CODE_OMP_STATE,    /* no code: a mark below the runtime's frames, "<OMP-idle>" */
	CTX_CODE_GRAFT, /* no code: what is on its root side is the stack of another thread, which caused this one */
	CTX_CODE_OMP_SPAN, /* no code: the leaf of a span of time with OpenMP, of the same names as CTX_CODE_OMP_STATE */
	CTX_CODE_OMP_SHARE, /* no code: what an outlined function runs of a work-sharing construct */
	CTX_CODE_N,
};

/* "java-compiled": in files, and for users. */
const char *ctx_code_kind_word(enum ctx_code_kind kind);

/* The kind of this word; CTX_CODE_N: there is none. */
enum ctx_code_kind ctx_code_kind_find(const char *word);

/* Whether it is a method of Java, however it runs. */
static inline bool ctx_code_is_java(enum ctx_code_kind kind)
{
	return kind >= CTX_CODE_JAVA && kind <= CTX_CODE_JAVA_NATIVE;
}

#endif
