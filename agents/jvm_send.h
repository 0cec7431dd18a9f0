/*
 * Messages to the recorder (runtime/vm_messages.h).
 *
 * A message is put together in memory of its own and sent at once: nothing is kept and nothing is locked, so any
 * number of threads may send at a time.
 */
#ifndef CTX_AGENTS_JVM_SEND_H
#define CTX_AGENTS_JVM_SEND_H

#include "runtime/vm_messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connects to the recorder's socket of this name, 1 to 64 letters. False: nobody listens there. */
bool ctx_jvm_connect(const char *name);

/* Whether somebody listens, as far as the last message has shown; and as a look at the socket shows. */
bool ctx_jvm_is_connected(void);
bool ctx_jvm_looks_connected(void);

/* Waits for an order of the recorder, enum ctx_vm_order; 0: it has gone. */
uint32_t ctx_jvm_wait_for_order(void);

struct ctx_jvm_message {
	size_t n;
	bool failed; /* it did not fit, and is not sent */
	uint8_t bytes[CTX_VM_MESSAGE_MAX];
};

/* NULL: no memory, or nobody listens. Released by ctx_jvm_send. */
struct ctx_jvm_message *ctx_jvm_begin(enum ctx_vm_message kind);
void ctx_jvm_put_u16(struct ctx_jvm_message *message, uint16_t value);
void ctx_jvm_put_u32(struct ctx_jvm_message *message, uint32_t value);
void ctx_jvm_put_u64(struct ctx_jvm_message *message, uint64_t value);
void ctx_jvm_put_text(struct ctx_jvm_message *message, const char *text, size_t n);
void ctx_jvm_put_bytes(struct ctx_jvm_message *message, const void *bytes, size_t n);
/* Writes over a number that was put at `at`. */
void ctx_jvm_set_u32(struct ctx_jvm_message *message, size_t at, uint32_t value);

/* Bytes that still fit. */
static inline size_t ctx_jvm_left(const struct ctx_jvm_message *message)
{
	return CTX_VM_MESSAGE_MAX - message->n;
}

/* Sends and releases it; where the recorder is slow this waits for it. */
void ctx_jvm_send(struct ctx_jvm_message *message);

/* The time that messages have, ns. */
uint64_t ctx_jvm_now(void);

/* CTX_VM_GC, without memory and without waiting: the thread holds the virtual machine up. */
void ctx_jvm_send_gc(uint32_t tid, uint64_t begin_ns);

#endif
