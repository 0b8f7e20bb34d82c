// Cells of a board whose rows are in the opposite order.
INLINE uint64_t turned(uint64_t s)
{
    uint64_t result = 0;
    for (; s; s &= s - 1)
        result |= only(TURN[lowest(s)]);
    return result;
}
