/*
 * ClickHouse over HTTP (libcurl): a struct ctx_fleet_server of a URL.
 *
 * The URL is http or https, with or without a port (8123, 8443) and a database: "http://db1:8123/?database=profiles". A user and a
 * password in it are refused: command lines are visible to all. They come from a file or from the environment.
 *
 * An answer is complete before its first byte is read (wait_end_of_query), so a failure is never taken for the end of the rows.
 * Redirects are not followed. Certificates are checked; SSL_CERT_FILE names others than the system's.
 */
#ifndef CTX_FLEET_HTTP_CLIENT_H
#define CTX_FLEET_HTTP_CLIENT_H

#include "fleet/fleet_server.h"

struct ctx_http_client;

struct ctx_http_spec {
	const char *url;
	const char *user,
		*password; /* borrowed until the client is open; NULL: the server's own default user */
	size_t max_bytes;  /* of an answer; 0: CTX_HTTP_ANSWER_MAX */
};

#define CTX_HTTP_ANSWER_MAX ((size_t)192 << 20)

/* Connects to nothing yet. CTX_E_ARG: the URL; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_http_client_open(const struct ctx_http_spec *spec,
						    struct ctx_http_client **ret, struct ctx_err *err);
void ctx_http_client_close(struct ctx_http_client *client); /* NULL does nothing */

/* Borrowed from the client. */
struct ctx_fleet_server ctx_http_client_server(struct ctx_http_client *client);

/* The URL without its query, for messages. */
const char *ctx_http_client_name(const struct ctx_http_client *client);

#endif
