/*
 * The server of a fleet, opened with the user and the password that the environment or a file has. They are never words of a command
 * line, which all users of a machine can read, nor in a recording.
 */
#ifndef CTX_CTXAN_FLEET_LOGIN_H
#define CTX_CTXAN_FLEET_LOGIN_H

#include "fleet/http_client.h"

/*
 * `credentials`: a file of lines "user = NAME" and "password = SECRET", which its owner alone may read; NULL: CTXAN_FLEET_USER and
 * CTXAN_FLEET_PASSWORD of the environment, or none. CTX_E_ARG: the URL, or the file's lines; CTX_E_PERM: others can read the file;
 * what reading it fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_login(const char *url, const char *credentials,
					       struct ctx_http_client **ret, struct ctx_err *err);

#endif
