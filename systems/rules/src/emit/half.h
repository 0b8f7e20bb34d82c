// Cells of a board that is turned by a half: bits in the opposite order.
INLINE uint64_t turned(uint64_t s)
{
    s = (s >> 1 & UINT64_C(0x5555555555555555)) | (s & UINT64_C(0x5555555555555555)) << 1;
    s = (s >> 2 & UINT64_C(0x3333333333333333)) | (s & UINT64_C(0x3333333333333333)) << 2;
    s = (s >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (s & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(s) >> (64 - CELLS);
}
