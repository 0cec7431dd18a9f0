/*
 * jclasses: the names of Java's methods, by the numbers that stacks and compiled code have for
 * them.
 *
 *	class record "Lcom/example/Demo;", method record "main" "([Ljava/lang/String;)V" --> com.example.Demo.main(java.lang.String[])
 */
#ifndef CTX_FORMATS_GPROFNG_GP_JAVA_H
#define CTX_FORMATS_GPROFNG_GP_JAVA_H

#include "base/buf.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "formats/gprofng/gp_blocks.h"

struct ctx_gp_method {
	int64_t loaded_ns; /* absolute */
	uint32_t name;	   /* id in the table's names */
	uint32_t before;   /* the previous method with this number; CTX_NONE */
};

struct ctx_gp_java {		       /* all zero is a valid empty table */
	struct ctx_gp_method *methods; /* owned */
	size_t n, cap;
	struct ctx_map64 by_number; /* the last one with this number */
	struct ctx_buf text;	    /* name of the class, and buffer for the name being built */
	uint64_t damaged;	    /* invalid records */
};

void ctx_gp_java_deinit(struct ctx_gp_java *java);

/*
 * Reads all records of `blocks`, which stays owned by the caller. Names go to `names`, which
 * several tables may share. CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_java_read(struct ctx_gp_java *java, struct ctx_gp_blocks *blocks,
						struct ctx_strtab *names, struct ctx_err *err);

/* The name of the method that had a number at a time (absolute); CTX_NONE: none. */
uint32_t ctx_gp_java_find(const struct ctx_gp_java *java, uint64_t number, int64_t time_ns);

#endif
