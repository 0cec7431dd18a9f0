/*
 * libctxjvm.so: the agent that `ctxrec --vm java` loads into Java's virtual machines.
 *
 *	JAVA_TOOL_OPTIONS=-agentpath:.../libctxjvm.so=SOCKET --> Agent_OnLoad --> the recorder's socket
 *	classes, compiled code, garbage collections --JVMTI--> messages (runtime/vm_messages.h)
 *
 * It takes no samples, changes no code and interrupts no thread: the recorder samples with perf events, and this library
 * reports what the code is. Without a recorder at the socket it does nothing. A failure of any call of JVMTI leaves
 * something unnamed, and never ends the virtual machine.
 */
#include "agents/jvm_hotspot.h"
#include "agents/jvm_methods.h"
#include "agents/jvm_objects.h"
#include "agents/jvm_places.h"
#include "agents/jvm_send.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define REPORTED_N (sizeof(reported) / sizeof(*reported))
#define EXPORTED __attribute__((visibility("default")))

static struct {
	JavaVM *jvm;
	jvmtiEnv *jvmti;
	pthread_mutex_t lock; /* for switching events on and off */
	_Atomic uint64_t n_classes, n_compiled;
	_Atomic uint64_t gc_begin_ns; /* of the collection that goes on; 0: none */
	struct ctx_jvm_options options;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- hello and goodbye --- */

/* A system property, NULL: there is none; released by the caller with Deallocate. */
static char *property_of(jvmtiEnv *jvmti, const char *name)
{
	char *value = NULL;

	return (*jvmti)->GetSystemProperty(jvmti, name, &value) == JVMTI_ERROR_NONE ? value : NULL;
}

static void put_property(struct ctx_jvm_message *message, jvmtiEnv *jvmti, const char *name)
{
	char *value = property_of(jvmti, name);

	ctx_jvm_put_text(message, value != NULL ? value : "", value != NULL ? strlen(value) : 0);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)value);
}

static int version_of(jvmtiEnv *jvmti)
{
	char *value = property_of(jvmti, "java.vm.specification.version");
	int version = value != NULL ? atoi(value) : 0;

	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)value);
	return version;
}

/* What a method of java.lang.Runtime without parameters returns; 0: it cannot be asked. */
static uint64_t ask_runtime(JNIEnv *jni, const char *method)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Runtime");
	jmethodID get, ask = NULL;
	jobject runtime = NULL;
	jlong value = 0;

	get = class != NULL ? (*jni)->GetStaticMethodID(jni, class, "getRuntime", "()Ljava/lang/Runtime;")
			    : NULL;
	if (get != NULL)
		ask = (*jni)->GetMethodID(jni, class, method, "()J");
	if (ask != NULL)
		runtime = (*jni)->CallStaticObjectMethod(jni, class, get);
	if (runtime != NULL)
		value = (*jni)->CallLongMethod(jni, runtime, ask);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, runtime);
	(*jni)->DeleteLocalRef(jni, class);
	return value > 0 ? (uint64_t)value : 0;
}

static void say_hello(jvmtiEnv *jvmti, JNIEnv *jni)
{
	struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_HELLO);
	const char *collector = ctx_jvm_hotspot_collector();

	if (message == NULL)
		return;
	ctx_jvm_put_u32(message, CTX_VM_VERSION);
	put_property(message, jvmti, "java.vm.name");
	put_property(message, jvmti, "java.vm.version");
	ctx_jvm_put_text(message, collector, strlen(collector));
	put_property(message, jvmti, "sun.java.command");
	ctx_jvm_put_u64(message, jni != NULL ? ask_runtime(jni, "maxMemory") : 0);
	ctx_jvm_send(message);
}

static void say_goodbye(JNIEnv *jni)
{
	uint64_t total = ask_runtime(jni, "totalMemory"), left = ask_runtime(jni, "freeMemory");
	struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_BYE);

	if (message == NULL)
		return;
	ctx_jvm_put_u64(message, total > left ? total - left : 0);
	ctx_jvm_put_u64(message, ask_runtime(jni, "maxMemory"));
	ctx_jvm_put_u64(message, atomic_load(&agent.n_classes));
	ctx_jvm_put_u64(message, atomic_load(&agent.n_compiled));
	ctx_jvm_send(message);
}

/* --- events --- */

static const jvmtiEvent reported[] = {JVMTI_EVENT_CLASS_PREPARE,
				      JVMTI_EVENT_COMPILED_METHOD_LOAD,
				      JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
				      JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
				      JVMTI_EVENT_GARBAGE_COLLECTION_START,
				      JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};

/* The recorder has gone: no event costs anything any more, until another one attaches. */
static void leave(jvmtiEnv *jvmti)
{
	pthread_mutex_lock(&agent.lock);
	for (size_t i = 0; !ctx_jvm_is_connected() && i < REPORTED_N; i++)
		(void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, reported[i], NULL);
	if (!ctx_jvm_is_connected())
		ctx_jvm_objects_disable(jvmti);
	pthread_mutex_unlock(&agent.lock);
}

static void report_loaded_classes(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint n = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		ctx_jvm_report_class(jvmti, classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	atomic_store(&agent.n_classes, (uint64_t)n);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

static void enable(jvmtiEnv *jvmti, jvmtiEvent event)
{
	(void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL);
}

/* Reports what was loaded and compiled before events were switched on. */
static void catch_up(jvmtiEnv *jvmti, JNIEnv *jni)
{
	enable(jvmti, JVMTI_EVENT_CLASS_PREPARE);
	report_loaded_classes(jvmti, jni);
	(void)(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(void)(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

static void enable_all(jvmtiEnv *jvmti)
{
	pthread_mutex_lock(&agent.lock);
	for (size_t i = 0; i < REPORTED_N; i++)
		enable(jvmti, reported[i]);
	ctx_jvm_objects_disable(jvmti);
	ctx_jvm_objects_enable(jvmti, &agent.options);
	pthread_mutex_unlock(&agent.lock);
}

/* --- orders --- */

static void obey(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t order, bool *has_begun)
{
	if (order == CTX_VM_ORDER_REPORT) {
		enable_all(jvmti);
		if (!*has_begun)
			catch_up(jvmti, jni);
		*has_begun = true;
	} else if (order == CTX_VM_ORDER_REST) {
		pthread_mutex_lock(&agent.lock);
		ctx_jvm_objects_disable(jvmti);
		pthread_mutex_unlock(&agent.lock);
	}
}

/*
 * Takes orders until the recorder has gone. It is a thread of the virtual machine only while it obeys: one that waited in native code would hold
 * up the end of the program by 300 ms.
 */
static void *run_orders(void *unused)
{
	static char name[] = "ctxrec orders";
	JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_6, .name = name};
	bool has_begun = false;
	uint32_t order;

	(void)unused;
	while ((order = ctx_jvm_wait_for_order()) != 0) {
		JNIEnv *jni = NULL;

		if ((*agent.jvm)->AttachCurrentThreadAsDaemon(agent.jvm, (void **)&jni, &arguments) != JNI_OK)
			return NULL;
		obey(agent.jvmti, jni, order, &has_begun);
		(void)(*agent.jvm)->DetachCurrentThread(agent.jvm);
	}
	return NULL;
}

static void begin(jvmtiEnv *jvmti, JNIEnv *jni)
{
	pthread_t thread;

	say_hello(jvmti, jni);
	ctx_jvm_objects_begin(jvmti, jni, &agent.options);
	if (!agent.options.asked)
		catch_up(jvmti, jni);
	else if (pthread_create(&thread, NULL, run_orders, NULL) == 0)
		(void)pthread_detach(thread);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)thread;
	begin(jvmti, jni);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti;
	say_goodbye(jni);
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	(void)jni;
	(void)thread;
	atomic_fetch_add(&agent.n_classes, 1);
	ctx_jvm_report_class(jvmti, class);
	if (!ctx_jvm_is_connected())
		leave(jvmti);
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
				jint n_lines, const jvmtiAddrLocationMap *lines, const void *inlined)
{
	atomic_fetch_add(&agent.n_compiled, 1);
	ctx_jvm_report_code(&(struct ctx_jvm_code){.method = method,
						   .address = address,
						   .size = size,
						   .inlined = inlined,
						   .lines = lines,
						   .n_lines = n_lines});
	if (!ctx_jvm_is_connected())
		leave(jvmti);
}

static void JNICALL on_unloaded(jvmtiEnv *jvmti, jmethodID method, const void *address)
{
	struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_UNLOAD);

	(void)jvmti;
	(void)method;
	if (message == NULL)
		return;
	ctx_jvm_put_u64(message, (uint64_t)(uintptr_t)address);
	ctx_jvm_send(message);
}

static void JNICALL on_stub(jvmtiEnv *jvmti, const char *name, const void *address, jint size)
{
	(void)jvmti;
	ctx_jvm_report_code(&(struct ctx_jvm_code){.name = name, .address = address, .size = size});
}

static void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	(void)jvmti;
	atomic_store(&agent.gc_begin_ns, ctx_jvm_now());
}

/* Sending the message is not part of the collection. */
static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	uint64_t begin_ns = atomic_exchange(&agent.gc_begin_ns, 0);

	(void)jvmti;
	if (begin_ns != 0)
		ctx_jvm_send_gc(ctx_jvm_own_tid(), begin_ns);
}

/* --- load --- */

static void add_capabilities(jvmtiEnv *jvmti)
{
	jvmtiCapabilities possible = {0}, wanted = {0};

	if ((*jvmti)->GetPotentialCapabilities(jvmti, &possible) != JVMTI_ERROR_NONE)
		return;
	wanted.can_generate_compiled_method_load_events = possible.can_generate_compiled_method_load_events;
	wanted.can_get_source_file_name = possible.can_get_source_file_name;
	wanted.can_get_line_numbers = possible.can_get_line_numbers;
	wanted.can_generate_garbage_collection_events = possible.can_generate_garbage_collection_events;
	ctx_jvm_objects_want(&agent.options, &possible, &wanted);
	(void)(*jvmti)->AddCapabilities(jvmti, &wanted);
}

static void set_callbacks(jvmtiEnv *jvmti)
{
	jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init,
					 .VMDeath = on_vm_death,
					 .ClassPrepare = on_class_prepare,
					 .CompiledMethodLoad = on_compiled,
					 .CompiledMethodUnload = on_unloaded,
					 .DynamicCodeGenerated = on_stub,
					 .GarbageCollectionStart = on_gc_start,
					 .GarbageCollectionFinish = on_gc_finish};

	ctx_jvm_objects_set(&callbacks);
	(void)(*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks));
}

/* The interface, made once. */
static bool prepare(JavaVM *jvm)
{
	agent.jvm = jvm;
	if (agent.jvmti != NULL) {
		add_capabilities(agent.jvmti); /* of what another recorder did not ask for */
		return true;
	}
	if ((*jvm)->GetEnv(jvm, (void **)&agent.jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
		agent.jvmti = NULL;
		return false;
	}
	ctx_jvm_hotspot_init(jvm, version_of(agent.jvmti));
	add_capabilities(agent.jvmti);
	set_callbacks(agent.jvmti);
	return true;
}

EXPORTED JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved)
{
	(void)reserved;
	if (options == NULL || ctx_jvm_is_connected() || !ctx_jvm_options_parse(options, &agent.options) ||
	    !ctx_jvm_connect(agent.options.name) || !prepare(jvm))
		return JNI_OK;
	enable(agent.jvmti, JVMTI_EVENT_VM_INIT);
	enable(agent.jvmti, JVMTI_EVENT_VM_DEATH);
	if (agent.options.asked)
		return JNI_OK;
	/* Classes are reported from VMInit on. */
	for (size_t i = 1; i < REPORTED_N; i++)
		enable(agent.jvmti, reported[i]);
	ctx_jvm_objects_enable(agent.jvmti, &agent.options);
	return JNI_OK;
}

/* Into a virtual machine that runs: "SOCKET" and options. An agent that is there already serves one recorder at a time. */
EXPORTED JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *jvm, char *options, void *reserved)
{
	JNIEnv *jni = NULL;
	bool is_begun;

	(void)reserved;
	if (options == NULL || (*jvm)->GetEnv(jvm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
		return JNI_ERR;
	pthread_mutex_lock(&agent.lock);
	is_begun = !ctx_jvm_looks_connected() && ctx_jvm_options_parse(options, &agent.options) &&
		   ctx_jvm_connect(agent.options.name) && prepare(jvm);
	if (is_begun)
		enable(agent.jvmti, JVMTI_EVENT_VM_DEATH);
	pthread_mutex_unlock(&agent.lock);
	if (!is_begun)
		return JNI_ERR;
	if (!agent.options.asked)
		enable_all(agent.jvmti);
	begin(agent.jvmti, jni);
	return JNI_OK;
}
