static int parse(const char *text, void *position)
{
    struct board b = first_board();
    for (int cell = 0; cell < CELLS; cell++) {
        size_t length;
        const char *word = next_word(&text, &length);
        int content = 0;
        if (!(BOARD >> cell & 1)) {
            if (length != 1 || *word != '#')
                return 0;
            continue;
        }
        while (content < CONTENTS
               && (strlen(SIGN[content]) != length || strncmp(SIGN[content], word, length) != 0))
            content++;
        if (content == CONTENTS)
            return 0;
        put(&b, only(cell), content);
    }
    const char *rest = text;
    if (rest[strspn(rest, " ,\t\r\n")] && !parse_counters(&rest, &b))
        return 0;
    if (rest[strspn(rest, " ,\t\r\n")] || !is_position(&b))
        return 0;
    store(&b, position);
    return 1;
}

static void print(const void *position, char *to, size_t room)
{
    struct board b = load(position);
    size_t width = 1;
    if (room > 0)
        *to = 0;
    for (int content = 0; content < CONTENTS; content++)
        width = strlen(SIGN[content]) > width ? strlen(SIGN[content]) : width;
    for (int cell = 0; cell < CELLS; cell++) {
        const char *sign = BOARD >> cell & 1 ? SIGN[get(&b, only(cell))] : "#";
        for (size_t pad = strlen(sign); pad < width; pad++)
            append(to, room, " ");
        append(to, room, sign);
        append(to, room, (cell + 1) % WIDTH == 0 ? "\n" : " ");
    }
    print_counters(&b, to, room);
}

static void first(void *position)
{
    struct board b = first_board();
    store(&b, position);
}

static int check(const void *position)
{
    struct board b = load(position);
    return is_position(&b);
}

static int moves(const void *position, int last, uint8_t *into)
{
    struct board b = load(position);
    return list_of(&b, last, into);
}

static int count(const void *position)
{
    struct board b = load(position);
    return count_of(&b);
}
