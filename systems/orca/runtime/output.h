// A line for the standard output, written at once, so that lines of processes are whole.
typedef struct {
    size_t used;
    char bytes[4096];
} orca_line;

static void orca_write(orca_line *line, const char *bytes, size_t count) {
    if (count > sizeof line->bytes - line->used) {
        fwrite(line->bytes, 1, line->used, stdout);
        line->used = 0;
    }
    if (count > sizeof line->bytes) {
        fwrite(bytes, 1, count, stdout);
        return;
    }
    memcpy(line->bytes + line->used, bytes, count);
    line->used += count;
}

static void orca_write_name(orca_line *line, const char *name) {
    orca_write(line, name, strlen(name));
}

static void orca_write_integer(orca_line *line, int64_t value) {
    char digits[32];
    orca_write(line, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value));
}

// The shortest digits from which the same real is read again.
static void orca_write_real(orca_line *line, double value) {
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    if (isfinite(value) && strpbrk(digits, ".e") == NULL)
        strcat(digits, ".0");
    orca_write_name(line, digits);
}

static void orca_write_boolean(orca_line *line, bool value) {
    orca_write_name(line, value ? "true" : "false");
}

static void orca_write_char(orca_line *line, uint32_t value) {
    char bytes[4];
    size_t count = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; value >>= 6)
        bytes[i] = (char)(0x80 | (value & 0x3f));
    bytes[0] = (char)(marks[count] | value);
    orca_write(line, bytes, count);
}

static void orca_write_text(orca_line *line, const orca_text *value) {
    for (int64_t i = 0; i < value->count[0]; i++)
        orca_write_char(line, value->at[i]);
}

static void orca_write_end(orca_line *line) {
    fwrite(line->bytes, 1, line->used, stdout);
    fflush(stdout);
}
