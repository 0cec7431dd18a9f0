#include "agents/jvm_hotspot.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define ENTRIES_MAX 20000u
#define FLAGS_MAX 4000u
#define OFFSET_MAX 4096u /* bytes of an entry */
#define VERSION_MIN 11	 /* of Java, in which a jmethodID is the address of a pointer to the description */
#define VERSION_MAX 25

/* A table of entries, and where in an entry things are: all by exported variables. */
struct table {
	const char *entries; /* NULL: there is none */
	uint64_t type_name, field_name, offset, address, size, stride;
};

static struct {
	struct table fields, types;
	bool has_methods;
	const void *base;	    /* where libjvm.so is */
	uint64_t const_method;	    /* in Method */
	uint64_t method_size;	    /* behind it a native method has its function */
	uint64_t const_method_size; /* of ConstMethod: the bytecode stands behind it */
	uint64_t code_size;	    /* in ConstMethod */
} hotspot;

static const char *pointer_of(void *library, const char *name)
{
	char *const *at = dlsym(library, name);

	return at != NULL ? *at : NULL;
}

/* Where in an entry something is, or the bytes of an entry. Without it the table cannot be read, and is none. */
static uint64_t offset_of(struct table *table, void *library, const char *name)
{
	const uint64_t *at = dlsym(library, name);

	if (at == NULL || *at > OFFSET_MAX) {
		table->entries = NULL;
		return 0;
	}
	return *at;
}

static void find_tables(void *library)
{
	struct table *fields = &hotspot.fields, *types = &hotspot.types;

	fields->entries = pointer_of(library, "gHotSpotVMStructs");
	fields->type_name = offset_of(fields, library, "gHotSpotVMStructEntryTypeNameOffset");
	fields->field_name = offset_of(fields, library, "gHotSpotVMStructEntryFieldNameOffset");
	fields->offset = offset_of(fields, library, "gHotSpotVMStructEntryOffsetOffset");
	fields->address = offset_of(fields, library, "gHotSpotVMStructEntryAddressOffset");
	fields->stride = offset_of(fields, library, "gHotSpotVMStructEntryArrayStride");
	types->entries = pointer_of(library, "gHotSpotVMTypes");
	types->type_name = offset_of(types, library, "gHotSpotVMTypeEntryTypeNameOffset");
	types->size = offset_of(types, library, "gHotSpotVMTypeEntrySizeOffset");
	types->stride = offset_of(types, library, "gHotSpotVMTypeEntryArrayStride");
}

static const char *text_at(const char *entry, uint64_t offset)
{
	const char *text;

	memcpy(&text, entry + offset, sizeof(text));
	return text;
}

static uint64_t number_at(const char *entry, uint64_t offset)
{
	uint64_t number;

	memcpy(&number, entry + offset, sizeof(number));
	return number;
}

/* The entry of a type, and in the table of fields of its field (else NULL); NULL: none. */
static const char *find_entry(const struct table *table, const char *type, const char *field)
{
	const char *entry = table->entries;

	for (unsigned i = 0; entry != NULL && i < ENTRIES_MAX; i++, entry += table->stride) {
		const char *name = text_at(entry, table->type_name);

		if (name == NULL)
			return NULL;
		if (strcmp(name, type) == 0 &&
		    (field == NULL || strcmp(text_at(entry, table->field_name), field) == 0))
			return entry;
	}
	return NULL;
}

static bool find_offset(const char *type, const char *field, uint64_t *ret)
{
	const char *entry = find_entry(&hotspot.fields, type, field);

	if (entry == NULL)
		return false;
	*ret = number_at(entry, hotspot.fields.offset);
	return true;
}

/* The value of a static field. */
static uint64_t static_value(const char *type, const char *field)
{
	const char *entry = find_entry(&hotspot.fields, type, field);
	const char *address = entry != NULL ? text_at(entry, hotspot.fields.address) : NULL;

	return address != NULL ? number_at(address, 0) : 0;
}

static bool find_size(const char *type, uint64_t *ret)
{
	const char *entry = find_entry(&hotspot.types, type, NULL);

	if (entry == NULL)
		return false;
	*ret = number_at(entry, hotspot.types.size);
	return true;
}

void ctx_jvm_hotspot_init(JavaVM *jvm, int version)
{
	Dl_info info;
	void *library;

	memset(&hotspot, 0, sizeof(hotspot));
	if (dladdr((void *)(uintptr_t)(*jvm)->GetEnv, &info) == 0 || info.dli_fname == NULL)
		return;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (library == NULL)
		return;
	find_tables(library);
	hotspot.base = info.dli_fbase;
	hotspot.has_methods = version >= VERSION_MIN && version <= VERSION_MAX &&
			      find_offset("Method", "_constMethod", &hotspot.const_method) &&
			      find_offset("ConstMethod", "_code_size", &hotspot.code_size) &&
			      find_size("ConstMethod", &hotspot.const_method_size);
	if (!find_size("Method", &hotspot.method_size))
		hotspot.method_size = 0;
}

bool ctx_jvm_hotspot_native(jmethodID id, void *ret, size_t n)
{
	uint64_t method = ctx_jvm_hotspot_method(id).method;
	const char *description;
	void *function;
	Dl_info info;

	if (method == 0 || hotspot.method_size == 0 || n != sizeof(function))
		return false;
	memcpy(&description, &method, sizeof(description));
	memcpy(&function, description + hotspot.method_size, sizeof(function));
	if (dladdr(function, &info) == 0 || info.dli_fbase != hotspot.base)
		return false;
	memcpy(ret, &function, n);
	return true;
}

bool ctx_jvm_hotspot_threads(struct ctx_jvm_thread_places *ret)
{
	*ret = (struct ctx_jvm_thread_places){0};
	if (!find_offset("JavaThread", "_monitor_owner_id", &ret->number))
		ret->number = 0;
	return (find_offset("JavaThread", "_osthread", &ret->os_thread) ||
		find_offset("Thread", "_osthread", &ret->os_thread)) &&
	       find_offset("JavaThread", "_current_pending_monitor", &ret->pending_monitor) &&
	       find_offset("JavaThread", "_stack_base", &ret->stack_base) &&
	       find_offset("JavaThread", "_stack_size", &ret->stack_bytes) &&
	       find_offset("OSThread", "_thread_id", &ret->tid) &&
	       find_offset("ObjectMonitor", "_owner", &ret->owner);
}

struct ctx_jvm_bytecode ctx_jvm_hotspot_method(jmethodID id)
{
	struct ctx_jvm_bytecode ret = {0};
	const char *method, *const_method;
	uint16_t size;

	if (!hotspot.has_methods || id == NULL)
		return ret;
	memcpy(&method, (const void *)id, sizeof(method));
	if (method == NULL)
		return ret;
	const_method = text_at(method, hotspot.const_method);
	if (const_method == NULL)
		return ret;
	memcpy(&size, const_method + hotspot.code_size, sizeof(size));
	ret.method = (uint64_t)(uintptr_t)method;
	ret.begin = (uint64_t)(uintptr_t)const_method + hotspot.const_method_size;
	ret.size = size;
	return ret;
}

const char *ctx_jvm_hotspot_collector(void)
{
	static const struct {
		const char *flag, *name;
	} collectors[] = {{"UseG1GC", "G1"},	     {"UseParallelGC", "Parallel"},
			  {"UseSerialGC", "Serial"}, {"UseShenandoahGC", "Shenandoah"},
			  {"UseZGC", "Z"},	     {"UseEpsilonGC", "Epsilon"}};
	const char *flags = (const char *)(uintptr_t)static_value("JVMFlag", "flags");
	uint64_t n = static_value("JVMFlag", "numFlags"), size, name_at, address_at;

	if (flags == NULL || n > FLAGS_MAX || !find_size("JVMFlag", &size) ||
	    !find_offset("JVMFlag", "_name", &name_at) || !find_offset("JVMFlag", "_addr", &address_at))
		return "";
	for (uint64_t i = 0; i < n; i++) {
		const char *name = text_at(flags + i * size, name_at);
		const char *value = text_at(flags + i * size, address_at);

		for (size_t j = 0;
		     name != NULL && value != NULL && j < sizeof(collectors) / sizeof(*collectors); j++) {
			if (strcmp(name, collectors[j].flag) == 0 && *value != 0)
				return collectors[j].name;
		}
	}
	return "";
}
