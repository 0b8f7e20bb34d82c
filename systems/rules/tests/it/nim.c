// Nim with one heap of 21: a move takes 1, 2 or 3; who takes the last one has won.

#include "weft-game.h"

static void first(void *position)
{
    *(uint8_t *)position = 21;
}

static int check(const void *position)
{
    return *(const uint8_t *)position <= 21;
}

static int moves(const void *position, int last, uint8_t *moves)
{
    int count = 0;
    (void)last;
    for (int taken = 1; taken <= 3 && taken <= *(const uint8_t *)position; taken++)
        moves[count++] = (uint8_t)taken;
    return count;
}

static void play(const void *position, uint8_t move, void *into)
{
    *(uint8_t *)into = (uint8_t)(*(const uint8_t *)position - move);
}

static int value(const void *position)
{
    return *(const uint8_t *)position == 0 ? -WEFT_GAME_WIN : 0;
}

const struct weft_game weft_game = {
    .version = WEFT_GAME_VERSION,
    .players = 2,
    .bytes = 1,
    .numbers = 4,
    .name = "nim",
    .first = first,
    .check = check,
    .moves = moves,
    .play = play,
    .value = value,
};
