/* The game's functions that the port wraps, without a change to their files.
 *
 * In the one file that defines it, a wrapped function becomes weak, so that every
 * call, also from its own file, goes to the port's function of that name; the
 * original stays reachable as nethack_<name>. IN_<file> is set by the build. */
#ifndef PORT_WRAPPED_H
#define PORT_WRAPPED_H

#define PORT_PRAGMA(text) _Pragma(#text)
#define WRAPPED(name)      \
    PORT_PRAGMA(weak name) \
    __asm__(".globl nethack_" #name "\n.set nethack_" #name ", " #name);

#ifdef IN_cmd
WRAPPED(getdir)
WRAPPED(get_count)
#endif
#ifdef IN_do_name
WRAPPED(getpos)
#endif
#ifdef IN_end
WRAPPED(done)
#endif
#ifdef IN_bones
WRAPPED(getbones)
#endif
#ifdef IN_getline
WRAPPED(tty_getlin)
WRAPPED(xwaitforspace)
#endif
#ifdef IN_hacklib
WRAPPED(friday_13th)
WRAPPED(init_random)
WRAPPED(midnight)
WRAPPED(night)
WRAPPED(phase_of_the_moon)
WRAPPED(reseed_random)
#endif
#ifdef IN_invent
WRAPPED(getobj)
#endif
#ifdef IN_mapglyph
WRAPPED(mapglyph)
#endif
#ifdef IN_mklev
WRAPPED(mklev)
#endif
#ifdef IN_save
WRAPPED(dosave0)
#endif
#ifdef IN_topl
WRAPPED(more)
#endif
#ifdef IN_version
WRAPPED(copyright_banner_line)
WRAPPED(doextversion)
WRAPPED(getversionstring)
#endif
#ifdef IN_wintty
/* What goes past the screen in NLE; perror() itself is the library's. */
#define perror port_perror
WRAPPED(g_putch)
WRAPPED(tty_raw_print)
#endif

#endif
