#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "weft-game.h"

#define UNUSED __attribute__((unused))
#define INLINE static inline UNUSED __attribute__((always_inline))

// A set of cells is a bit for each.
INLINE int lowest(uint64_t s)
{
    return __builtin_ctzll(s);
}

INLINE int many(uint64_t s)
{
    return __builtin_popcountll(s);
}

INLINE uint64_t only(int cell)
{
    return UINT64_C(1) << (cell & 63);
}

INLINE int min(int a, int b)
{
    return a < b ? a : b;
}

INLINE int max(int a, int b)
{
    return a > b ? a : b;
}

// A value that is no win and no loss.
INLINE int clipped(int value)
{
    return max(1 - WEFT_GAME_WIN, min(WEFT_GAME_WIN - 1, value));
}
