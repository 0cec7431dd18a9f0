#include "agents/jvm_places.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t ctx_jvm_own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

void ctx_jvm_put_class(struct ctx_jvm_message *message, jvmtiEnv *jvmti, jclass class)
{
	char *signature = NULL;

	if (class == NULL || (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		signature = NULL;
	ctx_jvm_put_text(message, signature != NULL ? signature : "",
			 signature != NULL ? strlen(signature) : 0);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

void ctx_jvm_put_stack(struct ctx_jvm_message *message, jvmtiEnv *jvmti, jthread thread)
{
	jvmtiFrameInfo frames[CTX_VM_STACK_MAX];
	jint n = 0;

	if ((*jvmti)->GetStackTrace(jvmti, thread, 0, CTX_VM_STACK_MAX, frames, &n) != JVMTI_ERROR_NONE)
		n = 0;
	ctx_jvm_put_u32(message, (uint32_t)n);
	for (jint i = 0; i < n; i++) {
		ctx_jvm_put_u64(message, (uint64_t)(uintptr_t)frames[i].method);
		ctx_jvm_put_u32(message, (uint32_t)(int32_t)frames[i].location);
	}
}

void ctx_jvm_report_wait(jvmtiEnv *jvmti, JNIEnv *jni, const struct ctx_jvm_wait *wait)
{
	struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_MONITOR);
	jclass class = NULL;
	jint hash = 0;

	if (message == NULL)
		return;
	if (wait->object != NULL) {
		(void)(*jvmti)->GetObjectHashCode(jvmti, wait->object, &hash);
		class = (*jni)->GetObjectClass(jni, wait->object);
	}
	ctx_jvm_put_u32(message, ctx_jvm_own_tid());
	ctx_jvm_put_u32(message, wait->flags);
	ctx_jvm_put_u32(message, wait->owner);
	ctx_jvm_put_u64(message, wait->begin_ns);
	ctx_jvm_put_u64(message, (uint32_t)hash);
	ctx_jvm_put_class(message, jvmti, class);
	ctx_jvm_put_stack(message, jvmti, NULL);
	(*jni)->DeleteLocalRef(jni, class);
	ctx_jvm_send(message);
}
