// Bytes of sets, the low ones first.
INLINE uint64_t read_set(const uint8_t *p, int bytes)
{
    uint64_t s = 0;
    for (int i = 0; i < bytes; i++)
        s |= (uint64_t)p[i] << 8 * i;
    return s;
}

INLINE void write_set(uint8_t *p, int bytes, uint64_t s)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(s >> 8 * i);
}

// The next word of a text, its length, and the text moved behind it.
static inline UNUSED const char *next_word(const char **text, size_t *length)
{
    const char *begin = *text + strspn(*text, " ,\t\r\n");
    *length = strcspn(begin, " ,\t\r\n");
    *text = begin + *length;
    return begin;
}

static inline UNUSED int parse_number(const char *word, size_t length, int most)
{
    int number = 0;
    if (length == 0 || length > 3)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return -1;
        number = 10 * number + (word[i] - '0');
    }
    return number > most ? -1 : number;
}

// Reads a counter: its names may stand before it.
static inline UNUSED int parse_counter(const char **text, int most, uint8_t *into)
{
    size_t length;
    const char *word = next_word(text, &length);
    while (length > 0 && (*word < '0' || *word > '9'))
        word = next_word(text, &length);
    int number = parse_number(word, length, most);
    if (number >= 0)
        *into = (uint8_t)number;
    return number >= 0;
}

static inline UNUSED void append(char *to, size_t room, const char *text)
{
    size_t length = strlen(to);
    if (length + 1 < room)
        strncat(to, text, room - length - 1);
}

static inline UNUSED void append_number(char *to, size_t room, int number)
{
    char text[12];
    snprintf(text, sizeof text, "%d", number);
    append(to, room, text);
}
