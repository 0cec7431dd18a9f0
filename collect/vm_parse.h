/*
 * Messages of an agent in a virtual machine (runtime/vm_messages.h), which may be anything.
 *
 * Everything is borrowed from the message's bytes.
 */
#ifndef CTX_COLLECT_VM_PARSE_H
#define CTX_COLLECT_VM_PARSE_H

#include "base/cursor.h"
#include "runtime/vm_messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_vm_text {
	const char *at; /* not terminated */
	size_t n;
};

struct ctx_vm_head {
	uint32_t kind;
	uint32_t dropped; /* messages before this one */
	uint64_t time_ns;
};

/* What is behind the head of a message; false: it is none. */
bool ctx_vm_parse_head(const uint8_t *bytes, size_t n, struct ctx_vm_head *ret, struct ctx_cursor *ret_rest);

struct ctx_vm_hello {
	uint32_t message_version;
	struct ctx_vm_text name, version, collector, command;
	uint64_t heap_max_bytes;
};
bool ctx_vm_parse_hello(struct ctx_cursor *rest, struct ctx_vm_hello *ret);

struct ctx_vm_class {
	struct ctx_vm_text name, file;
	uint32_t n_methods;
};
/* The class of CTX_VM_METHODS, behind which its methods stand. */
bool ctx_vm_parse_class(struct ctx_cursor *rest, struct ctx_vm_class *ret);

struct ctx_vm_method {
	uint64_t id, address;
	uint64_t code_begin;
	uint32_t code_bytes;
	bool is_native;
	struct ctx_vm_text name, signature;
	const uint8_t *lines; /* n_lines of u16 bytecode index, u16 line */
	uint32_t n_lines;
};
bool ctx_vm_parse_method(struct ctx_cursor *rest, struct ctx_vm_method *ret);

/* The line of a bytecode index; 0: not known. O(lines). */
uint32_t ctx_vm_line_of(const struct ctx_vm_method *method, uint32_t bytecode);

struct ctx_vm_code {
	uint32_t number;
	uint64_t address;
	uint32_t bytes;
	uint64_t method; /* 0: a stub */
	struct ctx_vm_text name;
};
bool ctx_vm_parse_code(struct ctx_cursor *rest, struct ctx_vm_code *ret);

/* A row of CTX_VM_CODE_ROWS. */
struct ctx_vm_row {
	uint32_t end; /* offset at which it ends */
	uint32_t depth;
	const uint8_t *places; /* `depth` of them */
};
bool ctx_vm_parse_row(struct ctx_cursor *rest, struct ctx_vm_row *ret);

struct ctx_vm_place {
	uint64_t method;
	int32_t bytecode;
};
struct ctx_vm_place ctx_vm_place_of(const struct ctx_vm_row *row, uint32_t i);

/* What a thread did with an object. */
struct ctx_vm_object {
	uint32_t tid;
	uint32_t flags, owner; /* these, begin and hash of a wait alone, bytes of an allocation */
	uint64_t begin_ns, hash, bytes;
	struct ctx_vm_text class;
	const uint8_t *frames; /* n_frames places */
	uint32_t n_frames;
};
bool ctx_vm_parse_allocation(struct ctx_cursor *rest, struct ctx_vm_object *ret);
bool ctx_vm_parse_monitor(struct ctx_cursor *rest, struct ctx_vm_object *ret);
struct ctx_vm_place ctx_vm_object_frame(const struct ctx_vm_object *object, uint32_t i);

struct ctx_vm_bye {
	uint64_t heap_used_bytes, heap_max_bytes, classes, compilations;
};
bool ctx_vm_parse_bye(struct ctx_cursor *rest, struct ctx_vm_bye *ret);

#endif
