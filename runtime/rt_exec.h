/*
 * What programs get that the process executes.
 */
#ifndef CTX_RUNTIME_RT_EXEC_H
#define CTX_RUNTIME_RT_EXEC_H

/* They get the runtime with a setting as of CTX_RT_VARIABLE. NULL: not any more. */
void ctx_rt_exec_keep(const char *setting);

#endif
