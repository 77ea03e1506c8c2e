/* Included before every one of NetHack's files: reads its configuration once (it
 * guards itself), then switches off what needs an operating system underneath. */
#ifndef PORT_OPTIONS_H
#define PORT_OPTIONS_H

#include "config.h"

#undef COMPRESS
#undef COMPRESS_EXTENSION
#undef SHELL
#undef SUSPEND
#undef INSURANCE
#undef POSIX_JOB_CONTROL
#undef DEF_MAILREADER
#undef DEV_RANDOM

#include "wrapped.h"

#endif
