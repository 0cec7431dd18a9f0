#include "fleet/http_client.h"

#include "fleet/curl_library.h"

#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 10L
#define SILENT_SECONDS 300L /* of a server that neither takes nor gives a byte */
#define REFUSAL_MAX 600u    /* bytes of what a server says */

struct ctx_http_client {
	struct ctx_curl lib;
	CURL *curl;
	CURLU *url;
	char *name; /* owned: of curl */
	size_t max_bytes;
};

/* ---- the URL ---- */

static enum ctx_status wrong_url(struct ctx_err *err, const char *url, const char *why)
{
	return ctx_err_set(err, CTX_E_ARG, "'%s': %s", url, why);
}

/* Whether it has a part that must not be there. */
static bool has_part(const struct ctx_curl *lib, CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = lib->url_get(url, part, &text, 0) == CURLUE_OK;

	lib->free(text);
	return has;
}

static enum ctx_status add_port(const struct ctx_curl *lib, CURLU *url, const char *text, struct ctx_err *err)
{
	char *scheme = NULL;
	bool is_https;

	if (lib->url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
		return ctx_err_nomem(err);
	is_https = strcmp(scheme, "https") == 0;
	if (!is_https && strcmp(scheme, "http") != 0) {
		lib->free(scheme);
		return wrong_url(err, text, "expected http://HOST[:PORT] or https://HOST[:PORT]");
	}
	lib->free(scheme);
	if (!has_part(lib, url, CURLUPART_PORT) &&
	    lib->url_set(url, CURLUPART_PORT, is_https ? "8443" : "8123", 0) != CURLUE_OK)
		return ctx_err_nomem(err);
	return CTX_OK;
}

static enum ctx_status read_url(struct ctx_http_client *client, const char *text, struct ctx_err *err)
{
	const struct ctx_curl *lib = &client->lib;
	CURLU *bare;
	enum ctx_status status;

	client->url = lib->url();
	if (client->url == NULL)
		return ctx_err_nomem(err);
	if (lib->url_set(client->url, CURLUPART_URL, text, 0) != CURLUE_OK)
		return wrong_url(err, text, "expected http://HOST[:PORT] or https://HOST[:PORT]");
	if (has_part(lib, client->url, CURLUPART_USER) || has_part(lib, client->url, CURLUPART_PASSWORD))
		return ctx_err_set(
			err, CTX_E_ARG,
			"a URL with a user or a password is visible to all users of this machine: use "
			"CTXAN_FLEET_USER and CTXAN_FLEET_PASSWORD, or --credentials FILE");
	status = add_port(lib, client->url, text, err);
	bare = status == CTX_OK ? lib->url_dup(client->url) : NULL;
	if (status != CTX_OK)
		return status;
	if (bare == NULL || lib->url_set(bare, CURLUPART_QUERY, NULL, 0) != CURLUE_OK ||
	    lib->url_get(bare, CURLUPART_URL, &client->name, 0) != CURLUE_OK)
		status = ctx_err_nomem(err);
	lib->url_cleanup(bare);
	return status;
}

enum ctx_status ctx_http_client_open(const struct ctx_http_spec *spec, struct ctx_http_client **ret,
				     struct ctx_err *err)
{
	struct ctx_http_client *client = ctx_calloc(1, sizeof(*client));
	const struct ctx_curl *lib = client != NULL ? &client->lib : NULL;
	enum ctx_status status;
	bool is_set;

	if (client == NULL)
		return ctx_err_nomem(err);
	status = ctx_curl_load(&client->lib, err);
	if (status != CTX_OK) {
		free(client);
		return status;
	}
	client->max_bytes = spec->max_bytes != 0 ? spec->max_bytes : CTX_HTTP_ANSWER_MAX;
	client->curl = lib->easy_init();
	status = client->curl != NULL ? read_url(client, spec->url, err) : ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_http_client_close(client);
		return status;
	}
	is_set = lib->easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
		 lib->easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS) == CURLE_OK &&
		 lib->easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
		 lib->easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS) == CURLE_OK &&
		 lib->easy_setopt(client->curl, CURLOPT_USERAGENT, "ctxan/" CTX_VERSION) == CURLE_OK;
	if (is_set && spec->user != NULL)
		is_set = lib->easy_setopt(client->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC) == CURLE_OK &&
			 lib->easy_setopt(client->curl, CURLOPT_USERNAME, spec->user) == CURLE_OK &&
			 lib->easy_setopt(client->curl, CURLOPT_PASSWORD,
					  spec->password != NULL ? spec->password : "") == CURLE_OK;
	if (!is_set) {
		ctx_http_client_close(client);
		return ctx_err_nomem(err);
	}
	*ret = client;
	return CTX_OK;
}

void ctx_http_client_close(struct ctx_http_client *client)
{
	const struct ctx_curl *lib = client != NULL ? &client->lib : NULL;

	if (client == NULL)
		return;
	lib->free(client->name);
	lib->url_cleanup(client->url);
	lib->easy_cleanup(client->curl);
	free(client);
}

const char *ctx_http_client_name(const struct ctx_http_client *client)
{
	return client->name;
}

/* ---- a request ---- */

struct receiving {
	struct ctx_buf *out;
	size_t begin, max_bytes;
	bool is_too_large;
};

static size_t receive(char *bytes, size_t size, size_t n, void *context)
{
	struct receiving *receiving = context;

	(void)size; /* 1 */
	if (receiving->out->n - receiving->begin + n > receiving->max_bytes) {
		receiving->is_too_large = true;
		return 0;
	}
	ctx_buf_put(receiving->out, bytes, n);
	return receiving->out->failed ? 0 : n;
}

/*
 * "Code: 60, e.displayText() = DB::Exception: Table default.ctx_cell doesn't exist., e.what() = ..." without what is for its
 * developers. Of a shard that is down it has several lines, and the shard's name is in the last ones.
 */
static void put_refusal(const struct ctx_buf *answer, size_t begin, struct ctx_buf *words)
{
	static const char before[] = "Exception: ", behind[] = ", e.what()";
	const char *text = (const char *)answer->bytes + begin, *found;
	size_t n = answer->n - begin, end;

	found = n != 0 ? memmem(text, n, before, sizeof(before) - 1) : NULL;
	if (found != NULL) {
		n -= (size_t)(found - text) + sizeof(before) - 1;
		text = found + sizeof(before) - 1;
	}
	for (end = n; end != 0 && strncmp(text + end - 1, behind, sizeof(behind) - 1) != 0; end--)
		;
	n = end != 0 ? end - 1 : n;
	while (n != 0 && strchr("\n.", text[n - 1]) != NULL)
		n--;
	n = n < REFUSAL_MAX ? n : REFUSAL_MAX;
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(words, text[i] == '\n' ? ' ' : (uint8_t)text[i]);
	ctx_buf_put_u8(words, '\0');
}

/* "Code: 193, ..." */
static long refusal_code(const struct ctx_buf *answer, size_t begin)
{
	static const char code[] = "Code: ";
	size_t n = sizeof(code) - 1;

	if (answer->n - begin <= n || memcmp(answer->bytes + begin, code, n) != 0)
		return 0;
	return strtol((const char *)answer->bytes + begin + n, NULL, 10);
}

/* Of ClickHouse's codes those that say that the user may not: READONLY, DATABASE_ACCESS_DENIED, unknown user, wrong password, ACCESS_DENIED, ... */
static bool is_permission(long http, long code)
{
	static const long codes[] = {164, 192, 193, 194, 195, 291, 497, 516};
	bool is = http == 401 || http == 403;

	for (size_t i = 0; i < CTX_COUNT_OF(codes); i++)
		is |= code == codes[i];
	return is;
}

static enum ctx_status refused(struct ctx_http_client *client, struct ctx_buf *answer, size_t begin,
			       struct ctx_err *err)
{
	const struct ctx_curl *lib = &client->lib;
	struct ctx_buf words CTX_AUTO_BUF = {0};
	long http = 0, code;

	(void)lib->easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http);
	ctx_buf_put_u8(answer, '\0'); /* for strtol */
	if (answer->failed)
		return ctx_err_nomem(err);
	answer->n--;
	code = refusal_code(answer, begin);
	put_refusal(answer, begin, &words);
	if (words.failed)
		return ctx_err_nomem(err);
	return ctx_err_set(err, is_permission(http, code) ? CTX_E_PERM : CTX_E_IO, "%s: HTTP %ld: %s",
			   client->name, http, (const char *)words.bytes);
}

static enum ctx_status perform(struct ctx_http_client *client, struct ctx_buf *answer, struct ctx_err *err)
{
	const struct ctx_curl *lib = &client->lib;
	char words[CURL_ERROR_SIZE] = "";
	struct receiving receiving = {.out = answer, .begin = answer->n, .max_bytes = client->max_bytes};
	long http = 0;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	if (lib->easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, receive) == CURLE_OK &&
	    lib->easy_setopt(client->curl, CURLOPT_WRITEDATA, &receiving) == CURLE_OK &&
	    lib->easy_setopt(client->curl, CURLOPT_ERRORBUFFER, words) == CURLE_OK)
		code = lib->easy_perform(client->curl);
	(void)lib->easy_setopt(client->curl, CURLOPT_ERRORBUFFER, NULL);
	(void)lib->easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http);
	if (receiving.is_too_large)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: the answer has more than %zu MB: select less",
				   client->name, client->max_bytes >> 20);
	if (answer->failed || code == CURLE_OUT_OF_MEMORY)
		return ctx_err_nomem(err);
	if (code != CURLE_OK)
		return ctx_err_set(err, CTX_E_IO, "%s: %s", client->name,
				   words[0] != '\0' ? words : lib->easy_strerror(code));
	return http == 200 ? CTX_OK : refused(client, answer, receiving.begin, err);
}

/* A parameter of the URL, which curl encodes. */
static bool add_parameter(const struct ctx_curl *lib, CURLU *url, const char *name, const char *value)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_buf_printf(&text, "%s=%s", name, value);
	ctx_buf_put_u8(&text, '\0');
	return !text.failed && lib->url_set(url, CURLUPART_QUERY, (const char *)text.bytes,
					    CURLU_APPENDQUERY | CURLU_URLENCODE) == CURLUE_OK;
}

static bool add_field(const struct ctx_curl *lib, curl_mime *mime, const char *name, const char *text)
{
	curl_mimepart *part = lib->mime_addpart(mime);

	return part != NULL && lib->mime_name(part, name) == CURLE_OK &&
	       lib->mime_data(part, text, CURL_ZERO_TERMINATED) == CURLE_OK;
}

/* The rows of a temporary table are a file of a form. */
static bool add_table(const struct ctx_curl *lib, curl_mime *mime, const struct ctx_fleet_table *table)
{
	curl_mimepart *part = lib->mime_addpart(mime);

	return part != NULL && lib->mime_name(part, table->name) == CURLE_OK &&
	       lib->mime_filename(part, "rows") == CURLE_OK &&
	       lib->mime_data(part, table->rows.n != 0 ? table->rows.at : "", table->rows.n) == CURLE_OK;
}

static bool add_table_parameters(const struct ctx_curl *lib, CURLU *url, const struct ctx_fleet_table *table)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};
	bool added;

	ctx_buf_printf(&name, "%s_structure", table->name);
	ctx_buf_put_u8(&name, '\0');
	added = !name.failed && add_parameter(lib, url, (const char *)name.bytes, table->columns);
	ctx_buf_clear(&name);
	ctx_buf_printf(&name, "%s_format", table->name);
	ctx_buf_put_u8(&name, '\0');
	return added && !name.failed && add_parameter(lib, url, (const char *)name.bytes, "RowBinary");
}

/* What of the request is in the URL; the form, if there is one, is `mime`. */
static bool make_url(const struct ctx_curl *lib, CURLU *url, curl_mime *mime,
		     const struct ctx_fleet_request *request)
{
	bool made = add_parameter(lib, url, "wait_end_of_query", "1") &&
		    add_parameter(lib, url, "default_format", "RowBinary");

	/* Done means that the shards have the rows. */
	if (made && request->rows.n != 0)
		return add_parameter(lib, url, "insert_distributed_sync", "1") &&
		       add_parameter(lib, url, "query", request->sql);
	if (made && mime != NULL)
		return add_table_parameters(lib, url, &request->table) &&
		       add_field(lib, mime, "query", request->sql) && add_table(lib, mime, &request->table);
	return made;
}

static bool set_body(const struct ctx_curl *lib, CURL *curl, curl_mime *mime,
		     const struct ctx_fleet_request *request)
{
	struct ctx_bytes body = request->rows;

	if (mime != NULL)
		return lib->easy_setopt(curl, CURLOPT_MIMEPOST, mime) == CURLE_OK;
	if (body.n == 0)
		body = (struct ctx_bytes){request->sql, strlen(request->sql)};
	return lib->easy_setopt(curl, CURLOPT_POST, 1L) == CURLE_OK &&
	       lib->easy_setopt(curl, CURLOPT_POSTFIELDS, body.at) == CURLE_OK &&
	       lib->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n) == CURLE_OK;
}

static enum ctx_status ask(void *context, const struct ctx_fleet_request *request, struct ctx_buf *answer,
			   struct ctx_err *err)
{
	struct ctx_http_client *client = context;
	const struct ctx_curl *lib = &client->lib;
	CURLU *url = lib->url_dup(client->url);
	curl_mime *mime = request->table.name != NULL ? lib->mime_init(client->curl) : NULL;
	/* A server says "100 Continue" to every large body otherwise, and is waited for. */
	struct curl_slist *headers = lib->slist_append(NULL, "Expect:");
	bool made = url != NULL && headers != NULL && (mime != NULL || request->table.name == NULL) &&
		    make_url(lib, url, mime, request) && set_body(lib, client->curl, mime, request) &&
		    lib->easy_setopt(client->curl, CURLOPT_CURLU, url) == CURLE_OK &&
		    lib->easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
	enum ctx_status status = made ? perform(client, answer, err) : ctx_err_nomem(err);

	(void)lib->easy_setopt(client->curl, CURLOPT_MIMEPOST, NULL);
	(void)lib->easy_setopt(client->curl, CURLOPT_HTTPHEADER, NULL);
	(void)lib->easy_setopt(client->curl, CURLOPT_CURLU, NULL);
	lib->slist_free_all(headers);
	lib->mime_free(mime);
	lib->url_cleanup(url);
	return status;
}

struct ctx_fleet_server ctx_http_client_server(struct ctx_http_client *client)
{
	return (struct ctx_fleet_server){ask, client};
}
