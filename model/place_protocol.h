/*
 * The protocol between ctxrec and its helper for indicators: ctxrec-places finds, in a separate
 * process, the instructions and data of one load object that an indicator means, so that ctxrec links
 * neither a reader of DWARF nor a disassembler.
 *
 *	ctxrec-places PATH function NAME [OFFSET]	entries of functions; NAME may be a pattern
 *	ctxrec-places PATH return NAME			the same, without inlined calls
 *	ctxrec-places PATH line FILE LINE
 *	ctxrec-places PATH range FIRST LAST
 *	ctxrec-places PATH object -
 *	ctxrec-places PATH data NAME [OFFSET [LENGTH]]
 *	ctxrec-places PATH at - ADDRESS			the instruction there
 *	ctxrec-places PATH once NAME			sites of coverage, of functions; NAME may be a pattern
 *	standard output	a line for each place: KIND OFFSET ADDRESS LENGTH NAME, separated by tabs; numbers are hexadecimal
 *	standard error	where it fails, one line that says why
 *
 * OFFSET is that in the file; of data without bytes in the file (.bss) it is 0, and ADDRESS counts.
 */
#ifndef CTX_MODEL_PLACE_PROTOCOL_H
#define CTX_MODEL_PLACE_PROTOCOL_H

#define CTX_PLACE_HELPER_NAME "ctxrec-places"

#define CTX_PLACE_ENTRY "entry"		/* the first instruction of a function */
#define CTX_PLACE_PATCHABLE "patchable" /* the same, which a jump of 5 bytes can be written over (x86-64) */
#define CTX_PLACE_INLINED "inlined"	/* that of an inlined call */
#define CTX_PLACE_INSIDE "inside"	/* another instruction */
#define CTX_PLACE_DATA "data"

enum ctx_place_helper_exit {
	CTX_PLACE_HELPER_OK = 0,
	CTX_PLACE_HELPER_FAILED = 2,
	CTX_PLACE_HELPER_NONE = 3, /* the object has no such place; standard error says what there is */
};

#endif
