#include "fleet/path_hash.h"

#include "base/digits.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

/* Texts follow each other with their zero bytes, so that "ab" "c" is not "a" "bc". */
static void put(struct ctx_buf *buf, const char *text)
{
	ctx_buf_put(buf, text, strlen(text) + 1);
}

static uint64_t function_key(struct ctx_buf *buf, const struct ctx_profile *profile, uint32_t function)
{
	const struct ctx_function_info *info = &profile->functions[function];

	ctx_buf_clear(buf);
	put(buf, info->object < profile->n_objects ? profile->objects[info->object].path : "");
	put(buf, info->name);
	put(buf, info->linkage_name);
	ctx_buf_put_u8(buf, info->inlined);
	ctx_buf_put_u8(buf, (uint8_t)info->kind);
	ctx_buf_put_u8(buf, (uint8_t)info->code_kind);
	return ctx_xxh3(buf->bytes, buf->n);
}

struct ctx_path_hash ctx_path_extend(struct ctx_path_hash caller, uint64_t function)
{
	const uint64_t words[] = {caller.low, caller.high, function};
	struct ctx_path_hash hash;

	hash.low = ctx_xxh3_128(words, sizeof(words), &hash.high);
	return hash;
}

enum ctx_status ctx_path_recording(const struct ctx_profile *profile, struct ctx_path_hash *ret,
				   struct ctx_err *err)
{
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	put(&buf, ctx_profile_property(profile, "host", ""));
	put(&buf, ctx_profile_property(profile, "command", ""));
	ctx_buf_put_u64(&buf, ctx_path_start_ns(profile));
	ctx_buf_put_u64(&buf, profile->run.end_ns);
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		ctx_buf_put_u64(&buf, (uint64_t)profile->processes[i].pid);
		ctx_buf_put_u64(&buf, profile->processes[i].life.begin_ns);
		put(&buf, profile->processes[i].command);
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		ctx_buf_put_u64(&buf, (uint64_t)profile->threads[i].tid);
		ctx_buf_put_u64(&buf, profile->threads[i].life.begin_ns);
		ctx_buf_put_u64(&buf, profile->threads[i].life.end_ns);
	}
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		put(&buf, profile->metrics[i].name);
		ctx_buf_put_u64(&buf, profile->metrics[i].samples);
		ctx_buf_put_u64(&buf, profile->metrics[i].weight);
	}
	if (ctx_buf_check(&buf, err) != CTX_OK)
		return CTX_E_NOMEM;
	ret->low = ctx_xxh3_128(buf.bytes, buf.n, &ret->high);
	return CTX_OK;
}

uint32_t ctx_path_metric(const struct ctx_metric_info *metric)
{
	const uint64_t words[] = {ctx_xxh3(metric->name, strlen(metric->name)), (uint64_t)metric->kind,
				  (uint64_t)metric->unit};

	return (uint32_t)ctx_xxh3(words, sizeof(words));
}

uint32_t ctx_path_thread(const char *group)
{
	return (uint32_t)ctx_xxh3(group, strlen(group));
}

uint64_t ctx_path_start_ns(const struct ctx_profile *profile)
{
	const char *text = ctx_profile_property(profile, "start_unix_ns", "");
	uint64_t start_ns = 0;

	return ctx_digits_take(&text, 10, &start_ns) && *text == '\0' ? start_ns : 0;
}

enum ctx_status ctx_path_hashes_make(const struct ctx_profile *profile, struct ctx_path_hashes *ret,
				     struct ctx_err *err)
{
	const struct ctx_trie *cct = &profile->cct;
	struct ctx_path_hashes hashes = {ctx_calloc(profile->n_functions + 1u, sizeof(*hashes.functions)),
					 ctx_calloc(cct->n + 1u, sizeof(*hashes.stacks))};
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	for (uint32_t i = 0; hashes.functions != NULL && i < profile->n_functions; i++)
		hashes.functions[i] = function_key(&buf, profile, i);
	if (hashes.functions == NULL || hashes.stacks == NULL || buf.failed) {
		ctx_path_hashes_deinit(&hashes);
		return ctx_err_nomem(err);
	}
	/* A parent's id is smaller than its children's. */
	for (uint32_t i = 1; i < cct->n; i++)
		hashes.stacks[i] =
			ctx_path_extend(hashes.stacks[cct->parent[i]], hashes.functions[cct->key[i]]);
	*ret = hashes;
	return CTX_OK;
}

void ctx_path_hashes_deinit(struct ctx_path_hashes *hashes)
{
	free(hashes->functions);
	free(hashes->stacks);
	*hashes = (struct ctx_path_hashes){0};
}
