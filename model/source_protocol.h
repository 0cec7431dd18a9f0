/*
 * What ctxrec and its program for line tables agree on: ctxrec-sources reads the debug information
 * of one load object in a process of its own, so that ctxrec neither links a DWARF reader nor runs
 * one on files that it does not trust.
 *
 *	ctxrec-sources PATH BUILD_ID [all]	BUILD_ID "" where it is not known
 *	standard input	offsets in the file, uint64_t of this machine (none with `all`)
 *	standard output	absolute paths of source files, each with a zero byte behind it
 */
#ifndef CTX_MODEL_SOURCE_PROTOCOL_H
#define CTX_MODEL_SOURCE_PROTOCOL_H

#define CTX_SOURCE_HELPER_NAME "ctxrec-sources"

enum ctx_source_helper_exit {
	CTX_SOURCE_HELPER_OK = 0,
	CTX_SOURCE_HELPER_FAILED = 2,
	CTX_SOURCE_HELPER_NO_LINES = 3, /* the object is not there, or has no debug information */
};

#endif
