/* The game's functions that the port wraps, without a change to their files.
 *
 * In the one file that defines it, the name of a wrapped function is a macro, which
 * gives another name, nethack_<name>, on the one line where the definition begins
 * and the name itself on all others. So every call, also from its own file, goes to
 * the port's function, and nothing is left to the linker that a whole-program
 * optimiser could see otherwise. The release never changes, so neither do its lines;
 * a wrong one would define a name twice, which doesn't link. IN_<file> is set by the
 * build. */
#ifndef PORT_WRAPPED_H
#define PORT_WRAPPED_H

/* WRAPPED_<name>_<line> stands for two arguments where it is defined, the second of
 * them the other name; else it is one odd word, and the name itself comes second. */
#define WRAPPED(name, line) WRAPPED_PASTE(name, line)
#define WRAPPED_PASTE(name, line) WRAPPED_SECOND(WRAPPED_##name##_##line, name, )
#define WRAPPED_SECOND(...) WRAPPED_PICK(__VA_ARGS__)
#define WRAPPED_PICK(first, second, ...) second

#ifdef IN_cmd
#define getdir WRAPPED(getdir, __LINE__)
#define WRAPPED_getdir_5050 , nethack_getdir
#define get_count WRAPPED(get_count, __LINE__)
#define WRAPPED_get_count_5702 , nethack_get_count
#endif
#ifdef IN_do_name
#define getpos WRAPPED(getpos, __LINE__)
#define WRAPPED_getpos_629 , nethack_getpos
#endif
#ifdef IN_end
#define done WRAPPED(done, __LINE__)
#define WRAPPED_done_1099 , nethack_done
#endif
#ifdef IN_bones
#define getbones WRAPPED(getbones, __LINE__)
#define WRAPPED_getbones_578 , nethack_getbones
#endif
#ifdef IN_getline
#define tty_getlin WRAPPED(tty_getlin, __LINE__)
#define WRAPPED_tty_getlin_36 , nethack_tty_getlin
#define xwaitforspace WRAPPED(xwaitforspace, __LINE__)
#define WRAPPED_xwaitforspace_213 , nethack_xwaitforspace
#endif
#ifdef IN_hacklib
#define friday_13th WRAPPED(friday_13th, __LINE__)
#define WRAPPED_friday_13th_1121 , nethack_friday_13th
#define init_random WRAPPED(init_random, __LINE__)
#define WRAPPED_init_random_907 , nethack_init_random
#define midnight WRAPPED(midnight, __LINE__)
#define WRAPPED_midnight_1138 , nethack_midnight
#define night WRAPPED(night, __LINE__)
#define WRAPPED_night_1130 , nethack_night
#define phase_of_the_moon WRAPPED(phase_of_the_moon, __LINE__)
#define WRAPPED_phase_of_the_moon_1106 , nethack_phase_of_the_moon
#define reseed_random WRAPPED(reseed_random, __LINE__)
#define WRAPPED_reseed_random_915 , nethack_reseed_random
#endif
#ifdef IN_invent
#define getobj WRAPPED(getobj, __LINE__)
#define WRAPPED_getobj_1425 , nethack_getobj
#endif
#ifdef IN_mapglyph
#define mapglyph WRAPPED(mapglyph, __LINE__)
#define WRAPPED_mapglyph_62 , nethack_mapglyph
#endif
#ifdef IN_mklev
#define mklev WRAPPED(mklev, __LINE__)
#define WRAPPED_mklev_988 , nethack_mklev
#endif
#ifdef IN_save
#define dosave0 WRAPPED(dosave0, __LINE__)
#define WRAPPED_dosave0_107 , nethack_dosave0
#endif
#ifdef IN_topl
#define more WRAPPED(more, __LINE__)
#define WRAPPED_more_203 , nethack_more
#endif
#ifdef IN_version
#define copyright_banner_line WRAPPED(copyright_banner_line, __LINE__)
#define WRAPPED_copyright_banner_line_377 , nethack_copyright_banner_line
#define doextversion WRAPPED(doextversion, __LINE__)
#define WRAPPED_doextversion_96 , nethack_doextversion
#define getversionstring WRAPPED(getversionstring, __LINE__)
#define WRAPPED_getversionstring_38 , nethack_getversionstring
#endif
#ifdef IN_wintty
/* What goes past the screen in NLE; perror() itself is the library's. */
#define perror port_perror
#define g_putch WRAPPED(g_putch, __LINE__)
#define WRAPPED_g_putch_3277 , nethack_g_putch
#define tty_raw_print WRAPPED(tty_raw_print, __LINE__)
#define WRAPPED_tty_raw_print_3443 , nethack_tty_raw_print
#endif

#endif
