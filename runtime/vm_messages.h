/*
 * What an agent in a virtual machine reports to the recorder: messages over a socket that stays connected as long as
 * the virtual machine lives (agents/ writes them, collect/vm_parse.c reads them).
 *
 * The socket is SOCK_SEQPACKET: each message arrives whole or not at all, and the process id of the sender is the kernel's
 * word. Where the recorder is slow the agent waits for it, 20 s in all; then messages are dropped, and
 * counted in the next one that gets through. What the agent sent before it was killed is still read.
 *
 *	u32 kind, u32 messages that were dropped before this one, u64 time (CLOCK_MONOTONIC, ns), then the fields of the kind
 *
 * Numbers are those of the machine, unaligned. A text is a u16 and so many bytes.
 */
#ifndef CTX_RUNTIME_VM_MESSAGES_H
#define CTX_RUNTIME_VM_MESSAGES_H

#define CTX_VM_MESSAGE_MAX 61440u /* bytes */
#define CTX_VM_HEAD_BYTES 16u
#define CTX_VM_TEXT_MAX 4096u /* longer texts are cut */
#define CTX_VM_VERSION 2u
#define CTX_VM_STACK_MAX 128u	    /* frames */
#define CTX_VM_MONITOR_WAIT 1u	    /* Object.wait(), not a monitor that another thread has */
#define CTX_VM_MONITOR_TIMED_OUT 2u /* or was interrupted */
#define CTX_VM_MONITOR_PARK 4u	    /* LockSupport.park, for this object, if there is one */
#define CTX_VM_MONITOR_OWNED 8u	    /* which is a lock that one thread has */

enum ctx_vm_message {
	/* u32 CTX_VM_VERSION; texts: name, version, collector, command; u64 bytes of the heap at most, 0 unknown */
	CTX_VM_HELLO = 1,
	/*
	 * Texts: class ("java/lang/String"), its source file ("" unknown); u32 n; then n methods, each: u64 id,
	 * u64 address of the virtual machine's description of it (0 unknown), u64 address of its bytecode, u32 bytes
	 * of it, u32 1: native; texts: name, signature; u32 m; then m lines: u16 bytecode index, u16 line. A class with
	 * many methods takes several messages.
	 */
	CTX_VM_METHODS,
	/* u32 number, u64 address, u32 bytes, u64 id of the method (0: a stub), text: name of the stub */
	CTX_VM_CODE,
	/*
	 * Of the code with this number: u32 number, u32 n; then n rows, by offset: u32 offset at which it ends, u32 depth, then so
	 * many places, the innermost first: u64 id of the method, i32 bytecode index
	 */
	CTX_VM_CODE_ROWS,
	CTX_VM_CODE_BYTES, /* u32 number, u32 offset, then the instructions from there on */
	CTX_VM_CODE_END,   /* u32 number: it is complete */
	CTX_VM_UNLOAD,	   /* u64 address: the code there is gone */
	/* u32 tid, u64 time at which the virtual machine stopped to collect garbage; the message's own time is the end of that */
	CTX_VM_GC,
	/*
	 * The virtual machine ends: u64 bytes of the heap in use, at most; u64 classes loaded, methods compiled
	 */
	CTX_VM_BYE,
	/*
	 * An allocation that is sampled: u32 tid, u64 bytes of the object, text: its class ("[B", "Ljava/lang/String;"), the stack:
	 * u32 n, then n frames, the innermost first: u64 id of the method, i32 bytecode index
	 */
	CTX_VM_ALLOCATION,
	/* A wait for a monitor that is over: u32 tid, u32 flags, u32 tid that had it (0 unknown), u64 time of its begin, u64 hash of the object, text: its class, the stack */
	CTX_VM_MONITOR,
	CTX_VM_MESSAGE_N,
};

/*
 * What the recorder sends to an agent that waits for it ("asked" among its options): a u32. Until the first one the agent reports
 * nothing but CTX_VM_HELLO and CTX_VM_BYE.
 */
enum ctx_vm_order {
	CTX_VM_ORDER_REPORT = 1, /* everything that it was loaded for */
	CTX_VM_ORDER_REST =
		2, /* what code there is, so that it has names later; nothing of threads and objects */
};

#endif
