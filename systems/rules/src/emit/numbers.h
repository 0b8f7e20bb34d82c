// Cells with a number from the first to the last.
INLINE uint64_t among(const struct board *b, int first, int last)
{
    uint64_t s = 0;
    for (int cell = 0; cell < CELLS; cell++)
        s |= (uint64_t)(b->at[cell] >= first && b->at[cell] <= last) << cell;
    return s & BOARD;
}

INLINE int get(const struct board *b, uint64_t m)
{
    return b->at[lowest(m)];
}

INLINE void put(struct board *b, uint64_t m, int content)
{
    for (; m; m &= m - 1)
        b->at[lowest(m)] = (uint8_t)content;
}
