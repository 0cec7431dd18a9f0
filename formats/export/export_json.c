/*
 * Numbers are passed as tokens (yajl_gen_number copies its text): yajl's integers end at 2^63 - 1,
 * and its fractions are printed with more digits than were measured.
 */
#include "formats/export/export_json.h"

#include "formats/export/export_stack.h"

#include <inttypes.h>
#include <string.h>

#include <yajl/yajl_gen.h>

static void print(void *context, const char *text, size_t n)
{
	fwrite(text, 1, n, context);
}

enum ctx_status ctx_export_json_init(struct ctx_export_json *json, FILE *out, struct ctx_err *err)
{
	*json = (struct ctx_export_json){.out = out, .err = err, .gen = yajl_gen_alloc(NULL)};
	if (json->gen == NULL)
		return json->status = ctx_err_nomem(err);
	yajl_gen_config(json->gen, yajl_gen_print_callback, print, out);
	return CTX_OK;
}

enum ctx_status ctx_export_json_finish(struct ctx_export_json *json)
{
	if (json->status == CTX_OK)
		fputc('\n', json->out);
	if (json->gen != NULL)
		yajl_gen_free(json->gen);
	json->gen = NULL;
	ctx_buf_deinit(&json->token);
	return json->status;
}

void ctx_export_json_fail(struct ctx_export_json *json, enum ctx_status status)
{
	if (json->status == CTX_OK)
		json->status = status;
}

static void check(struct ctx_export_json *json, yajl_gen_status status)
{
	if (status != yajl_gen_status_ok)
		ctx_export_json_fail(json, ctx_err_set(json->err, CTX_E_INTERNAL,
						       "JSON: the generator refuses (%d)", (int)status));
}

static bool goes_on(struct ctx_export_json *json)
{
	return json->status == CTX_OK;
}

void ctx_export_json_open(struct ctx_export_json *json)
{
	if (goes_on(json))
		check(json, yajl_gen_map_open(json->gen));
}

void ctx_export_json_close(struct ctx_export_json *json)
{
	if (goes_on(json))
		check(json, yajl_gen_map_close(json->gen));
}

void ctx_export_json_open_list(struct ctx_export_json *json)
{
	if (goes_on(json))
		check(json, yajl_gen_array_open(json->gen));
}

void ctx_export_json_close_list(struct ctx_export_json *json)
{
	if (goes_on(json))
		check(json, yajl_gen_array_close(json->gen));
}

void ctx_export_json_key(struct ctx_export_json *json, const char *key)
{
	if (goes_on(json))
		check(json, yajl_gen_string(json->gen, (const unsigned char *)key, strlen(key)));
}

void ctx_export_json_buf(struct ctx_export_json *json, const struct ctx_buf *text)
{
	if (!goes_on(json))
		return;
	if (text->failed)
		ctx_export_json_fail(json, ctx_err_nomem(json->err));
	else
		check(json, yajl_gen_string(json->gen, text->n != 0 ? text->bytes : (const unsigned char *)"",
					    text->n));
}

void ctx_export_json_text(struct ctx_export_json *json, const char *text)
{
	ctx_buf_clear(&json->token);
	ctx_export_put_text(&json->token, text);
	ctx_export_json_buf(json, &json->token);
}

void ctx_export_json_name(struct ctx_export_json *json, const struct ctx_profile *profile, uint32_t function)
{
	ctx_buf_clear(&json->token);
	ctx_export_put_name(&json->token, profile, function);
	ctx_export_json_buf(json, &json->token);
}

static void put_token(struct ctx_export_json *json, const char *token, int n)
{
	if (goes_on(json))
		check(json, yajl_gen_number(json->gen, token, (size_t)n));
}

void ctx_export_json_number(struct ctx_export_json *json, uint64_t number)
{
	char token[32];

	put_token(json, token, snprintf(token, sizeof(token), "%" PRIu64, number));
}

void ctx_export_json_minus(struct ctx_export_json *json, uint64_t number)
{
	char token[32];

	put_token(json, token, snprintf(token, sizeof(token), "-%" PRIu64, number));
}

void ctx_export_json_decimal(struct ctx_export_json *json, uint64_t number, unsigned digits)
{
	char token[48];
	uint64_t scale = 1;
	int n;

	for (unsigned i = 0; i < digits; i++)
		scale *= 10;
	n = snprintf(token, sizeof(token), "%" PRIu64, number / scale);
	if (number % scale != 0) {
		n += snprintf(token + n, sizeof(token) - (size_t)n, ".%0*" PRIu64, (int)digits,
			      number % scale);
		while (token[n - 1] == '0')
			n--;
	}
	put_token(json, token, n);
}

void ctx_export_json_bool(struct ctx_export_json *json, bool value)
{
	if (goes_on(json))
		check(json, yajl_gen_bool(json->gen, value));
}

void ctx_export_json_null(struct ctx_export_json *json)
{
	if (goes_on(json))
		check(json, yajl_gen_null(json->gen));
}

void ctx_export_json_ready(struct ctx_export_json *json, const struct ctx_buf *token)
{
	if (!goes_on(json))
		return;
	if (token->failed)
		ctx_export_json_fail(json, ctx_err_nomem(json->err));
	else
		check(json, yajl_gen_number(json->gen, (const char *)token->bytes, token->n));
}

void ctx_export_json_line(struct ctx_export_json *json)
{
	if (goes_on(json))
		fputc('\n', json->out);
}

void ctx_export_json_key_text(struct ctx_export_json *json, const char *key, const char *text)
{
	ctx_export_json_key(json, key);
	ctx_export_json_text(json, text);
}

void ctx_export_json_key_number(struct ctx_export_json *json, const char *key, uint64_t number)
{
	ctx_export_json_key(json, key);
	ctx_export_json_number(json, number);
}
