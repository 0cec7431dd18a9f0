/*
 * The protocol between ctxrec and its helper for line tables: ctxrec-sources reads the debug
 * information of one load object in a separate process, so that ctxrec neither links a DWARF reader
 * nor runs one on untrusted files.
 *
 *	ctxrec-sources PATH BUILD_ID [all]	BUILD_ID "" if unknown
 *	standard input	offsets in the file, uint64_t of this machine (none with `all`)
 *	standard output	absolute paths of source files, each ended by a zero byte
 */
#ifndef CTX_MODEL_SOURCE_PROTOCOL_H
#define CTX_MODEL_SOURCE_PROTOCOL_H

#define CTX_SOURCE_HELPER_NAME "ctxrec-sources"

enum ctx_source_helper_exit {
	CTX_SOURCE_HELPER_OK = 0,
	CTX_SOURCE_HELPER_FAILED = 2,
	CTX_SOURCE_HELPER_NO_LINES = 3, /* the object is missing, or has no debug information */
};

#endif
