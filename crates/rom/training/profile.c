/* Hands out the counts that the compiler's own code has taken, in the compiler's own
 * form, through the part of its library that needs no operating system. What else
 * that library would need is here. */
#include "trainer.h"

/* From the compiler's gcov.h, which not every installation brings. */
struct gcov_info;
extern void __gcov_info_to_gcda(const struct gcov_info *info,
                                void (*name)(const char *name, void *context),
                                void (*put)(const void *bytes, unsigned length, void *context),
                                void *(*allocate)(unsigned length, void *context), void *context);

/* One for each file that counts; the section's ends are the linker's names. */
extern const struct gcov_info *const __start_gcov_info[], *const __stop_gcov_info[];

/* Where the counters of values come from: memory apart from the game's. None is
 * taken yet. */
void *__gcov_kvp_dynamic_pool;
unsigned __gcov_kvp_dynamic_pool_index, __gcov_kvp_dynamic_pool_size;

#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_PRIVATE_ANONYMOUS_NORESERVE 0x4022
#define PROT_READ_WRITE 3

void *memory(const void *address, size_t bytes)
{
    long flags = MAP_PRIVATE_ANONYMOUS_NORESERVE | (address ? MAP_FIXED_NOREPLACE : 0);
    long place = kernel(CALL_MMAP, (long) address, (long) bytes, PROT_READ_WRITE, flags, -1, 0);

    if (place < 0 || (address && place != (long) address))
        GIVE_UP();
    return (void *) place;
}

void *mmap(void *address, size_t bytes, int access, int flags, int file, long offset)
{
    (void) address, (void) access, (void) flags, (void) file, (void) offset;
    return memory(NULL, bytes);
}

/* How counts of two runs are added: there is one run only. */
void __gcov_merge_add(void)
{
    GIVE_UP();
}

void __gcov_merge_topn(void)
{
    GIVE_UP();
}

void __gcov_merge_ior(void)
{
    GIVE_UP();
}

void __gcov_merge_time_profile(void)
{
    GIVE_UP();
}

#define BUFFER_BYTES 65536
static unsigned char buffer[BUFFER_BYTES];
static size_t used;
static long file;

static void flush(void)
{
    size_t done = 0;

    while (done < used) {
        long written = kernel(CALL_WRITE, file, (long) (buffer + done), (long) (used - done), 0, 0, 0);
        if (written <= 0)
            GIVE_UP();
        done += (size_t) written;
    }
    used = 0;
}

static void put(const void *bytes, unsigned length)
{
    const unsigned char *from = bytes;

    for (; length; length--) {
        if (used == BUFFER_BYTES)
            flush();
        buffer[used++] = *from++;
    }
}

/* A length and that many bytes; a file is such parts, its name first, and one of
 * length 0. */
static void put_part(const void *bytes, unsigned length, void *context)
{
    (void) context;
    put(&length, sizeof length);
    put(bytes, length);
}

static void put_name(const char *name, void *context)
{
    unsigned length = 0;

    while (name[length])
        length++;
    put_part(name, length, context);
}

static void *allocate(unsigned length, void *context)
{
    (void) context;
    return memory(NULL, length);
}

#define O_WRONLY_CREAT_TRUNC 01101

void profile_write(void)
{
    const struct gcov_info *const *info = __start_gcov_info;
    unsigned end = 0;

    file = kernel(CALL_OPEN, (long) "profile.bin", O_WRONLY_CREAT_TRUNC, 0644, 0, 0, 0);
    if (file < 0)
        GIVE_UP();
    /* The compiler can't know that the two names bound one array. */
    __asm__("" : "+r"(info));
    for (; info < __stop_gcov_info; info++) {
        __gcov_info_to_gcda(*info, put_name, put_part, allocate, NULL);
        put(&end, sizeof end);
    }
    flush();
}
