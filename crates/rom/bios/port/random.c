/* NetHack's random generators. Includes their file, whose state is private to it. */
#include "port.h"

#include "rnd.c"

void random_seed(uint64_t core, uint64_t display_seed)
{
    init_isaac64(core, rn2);
    init_isaac64(display_seed, rn2_on_display_rng);
}

isaac64_ctx *random_core(void)
{
    return &rnglist[CORE].rng_state;
}

/* For the host, which knows how the generators go on. */
isaac64_ctx *const random_contexts[2] = { &rnglist[CORE].rng_state, &rnglist[DISP].rng_state };

static unsigned char *put_words(unsigned char *out, const uint64_t *words, size_t n)
{
    memcpy(out, words, n * sizeof *words);
    return out + n * sizeof *words;
}

/* The whole of both generators: position, results, inner state. */
void random_write(unsigned char *out)
{
    int i;

    for (i = CORE; i <= DISP; i++) {
        const isaac64_ctx *state = &rnglist[i].rng_state;
        uint64_t position = state->n;
        uint64_t inner[3] = { state->a, state->b, state->c };

        out = put_words(out, &position, 1);
        out = put_words(out, state->r, SIZE(state->r));
        out = put_words(out, state->m, SIZE(state->m));
        out = put_words(out, inner, 3);
    }
}
