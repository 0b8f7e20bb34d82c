static int count_moves(const struct board *b)
{
    struct search search = { 0, -1, *b };
    walk(&search, b);
    return search.found;
}

static int list(const struct board *b, int last, uint8_t *moves)
{
    int count = count_moves(b);
    (void)last;
    if (count > WEFT_GAME_MOST_MOVES) {
        fprintf(stderr, "weft-game: a position has more than 254 moves, which are the most\n");
        abort();
    }
    for (int i = 0; i < count; i++)
        moves[i] = (uint8_t)i;
    return count;
}

static void make(struct board *b, int number)
{
    struct search search = { 0, number, *b };
    if (walk(&search, b))
        *b = search.result;
}
