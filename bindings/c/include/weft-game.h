// Rules of a game in C, for `weft-game` and `weft-rules`: a library that exports one table.
//
// Positions are flat bytes, values: a function reads the position that it is given, writes where it
// is told, and keeps nothing. Several threads call these functions at once. Positions are as the
// player to move sees them: a move gives the position that the other player sees.
//
//     const struct weft_game weft_game = { .version = WEFT_GAME_VERSION, .players = 2, ... };
//
// The guide's page on rules has an example. Compile it with `cc -O2 -shared -fPIC`, or give the C
// file itself to `weft-game`, which does.

#ifndef WEFT_GAME_H
#define WEFT_GAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of this table.
#define WEFT_GAME_VERSION 1

// Most bytes of a position.
#define WEFT_GAME_MOST_BYTES 29

// Most moves of a position. Moves are numbers, less than this.
#define WEFT_GAME_MOST_MOVES 254

// Value of a win; minus this is a loss. Values are between the two.
#define WEFT_GAME_WIN 30000

// Rules of a game. Functions that say so may be null. Positions have no alignment.
struct weft_game {
    // WEFT_GAME_VERSION.
    uint32_t version;
    // 1 for a puzzle, 2 for a game.
    uint32_t players;
    // Bytes of a position, from 1 to WEFT_GAME_MOST_BYTES. Equal positions have equal bytes.
    uint32_t bytes;
    // Number behind the largest number of a move, up to WEFT_GAME_MOST_MOVES.
    uint32_t numbers;
    // Moves left down to which positions go to their owners, see `weft-game --help`; 0: a default.
    uint32_t grain;
    // Name of the game, which stays.
    const char *name;

    // Writes the first position.
    void (*first)(void *position);

    // 1 if these bytes are a position, 0 if not. Other functions only get what is one.
    int (*check)(const void *position);

    // Writes the moves of a position, each once, and returns how many: 0 at the end of a game,
    // `numbers` at most. For a puzzle `last` is the move that led there, -1 if none did; its inverse
    // may be left out.
    int (*moves)(const void *position, int last, uint8_t *moves);

    // Number of moves, where there is a faster way to know it; may be null.
    int (*count)(const void *position);

    // Writes the position after one of its moves. `into` is other memory.
    void (*play)(const void *position, uint8_t move, void *into);

    // Of a game: the value for the player to move, at the end the outcome. Of a puzzle: a number of
    // moves that a solution has at least; 0 for a goal.
    int (*value)(const void *position);

    // Of a puzzle: 1 if it is solved. Asked where the value is 0. Of a game: null.
    int (*is_goal)(const void *position);

    // Of a game: moves of the longest game from here, or more; may be null.
    int (*longest)(const void *position);

    // Reads a position from a text; 1 if it is one. May be null.
    int (*parse)(const char *text, void *position);

    // Writes a position as text, with a zero behind it, at most `room` bytes. May be null.
    void (*print)(const void *position, char *text, size_t room);
};

// The table that a library exports.
extern const struct weft_game weft_game;

#ifdef __cplusplus
}
#endif

#endif
