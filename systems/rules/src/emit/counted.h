// Moves are counted as they are found, until the one that is wanted.
struct search {
    int found, wanted;
    struct board result;
};

static int tell(struct search *search, const struct board *b)
{
    if (search->found++ != search->wanted)
        return 0;
    search->result = *b;
    return 1;
}
