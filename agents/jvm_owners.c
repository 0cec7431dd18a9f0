/*
 *	Thread.eetop --> the virtual machine's thread --> the monitor that it is about to wait for --> its owner:
 *	    a thread, or an address in the stack of one (a lock that was not contended before), or the number of one (JDK 24 on)
 *	owner --list of threads--> OSThread --> thread id
 */
#include "agents/jvm_owners.h"

#include "agents/jvm_hotspot.h"
#include "agents/jvm_send.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define LISTED_MAX 4096u
#define LIST_AGAIN_NS ((uint64_t)20 * 1000000)
#define TID_MAX (4u << 20)

struct listed {
	uint64_t thread, stack_base, stack_bytes, number;
};

static struct {
	jfieldID eetop; /* NULL: there is none */
	struct ctx_jvm_thread_places at;
	bool is_known;
	pthread_mutex_t lock; /* for the list */
	struct listed items[LISTED_MAX];
	uint32_t n;
	uint64_t again_ns;
} owners = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ctx_jvm_owners_init(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");

	owners.eetop = class != NULL ? (*jni)->GetFieldID(jni, class, "eetop", "J") : NULL;
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, class);
	owners.is_known = owners.eetop != NULL && ctx_jvm_hotspot_threads(&owners.at);
}

/* Memory that may be gone. */
static bool read_at(uint64_t address, void *ret, size_t n)
{
	struct iovec here = {.iov_base = ret, .iov_len = n}, there = {.iov_len = n};

	memcpy(&there.iov_base, &address, sizeof(address));
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	return read_at(address, &word, sizeof(word)) ? word : 0;
}

static uint64_t address_of(JNIEnv *jni, jthread thread)
{
	jlong address = thread != NULL ? (*jni)->GetLongField(jni, thread, owners.eetop) : 0;

	return (uint64_t)address;
}

static uint32_t tid_at(uint64_t thread)
{
	uint64_t os_thread = thread != 0 ? word_at(thread + owners.at.os_thread) : 0;
	uint32_t tid;

	return os_thread != 0 && read_at(os_thread + owners.at.tid, &tid, sizeof(tid)) && tid < TID_MAX ? tid
													: 0;
}

uint32_t ctx_jvm_tid_of(JNIEnv *jni, jthread thread)
{
	return owners.is_known ? tid_at(address_of(jni, thread)) : 0;
}

static void list(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jthread *threads = NULL;
	jint n = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &n, &threads) != JVMTI_ERROR_NONE)
		return;
	owners.n = 0;
	for (jint i = 0; i < n; i++) {
		struct listed item = {.thread = address_of(jni, threads[i])};

		(*jni)->DeleteLocalRef(jni, threads[i]);
		if (item.thread == 0 || owners.n == LISTED_MAX)
			continue;
		item.stack_base = word_at(item.thread + owners.at.stack_base);
		item.stack_bytes = word_at(item.thread + owners.at.stack_bytes);
		item.number = owners.at.number != 0 ? word_at(item.thread + owners.at.number) : 0;
		owners.items[owners.n++] = item;
	}
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

/* The thread that the word means, still with that stack; 0: none. */
static uint64_t find(uint64_t owner)
{
	for (uint32_t i = 0; i < owners.n; i++) {
		const struct listed *item = &owners.items[i];

		if (owner != item->thread && owner != item->number &&
		    item->stack_base - owner > item->stack_bytes)
			continue;
		return word_at(item->thread + owners.at.stack_base) == item->stack_base ? item->thread : 0;
	}
	return 0;
}

uint32_t ctx_jvm_owner_of_monitor(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	uint64_t monitor, owner, found, now_ns;

	if (!owners.is_known)
		return 0;
	monitor = word_at(address_of(jni, thread) + owners.at.pending_monitor);
	owner = monitor != 0 ? word_at(monitor + owners.at.owner) : 0;
	if (owner == 0 || pthread_mutex_trylock(&owners.lock) != 0)
		return 0;
	found = find(owner);
	now_ns = ctx_jvm_now();
	if (found == 0 && now_ns >= owners.again_ns) {
		owners.again_ns = now_ns + LIST_AGAIN_NS;
		list(jvmti, jni);
		found = find(owner);
	}
	pthread_mutex_unlock(&owners.lock);
	return tid_at(found);
}
