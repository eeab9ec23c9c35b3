/* Best-fit decreasing as compiled packers do it: counting sort, then a tree over all capacities. */
#include <stdint.h>
#include <stdlib.h>

/* row_of[i] gets the row of document i; returns the number of rows, or -1 without memory. */
int64_t best_fit(const int64_t *lengths, int64_t n, int64_t row_length, int32_t *row_of)
{
    int64_t leaves = 1;
    while (leaves < row_length + 1) leaves *= 2;
    int32_t *first = malloc((size_t)(row_length + 1) * sizeof *first); /* a row of this room */
    int32_t *next = malloc((size_t)n * sizeof *next);                  /* another with the same */
    int64_t *at = calloc((size_t)row_length + 2, sizeof *at);
    int32_t *order = malloc((size_t)n * sizeof *order);
    uint8_t *tree = calloc((size_t)(2 * leaves), 1); /* is any room below this node? */
    int64_t rows = 0;
    if (!first || !next || !at || !order || !tree) rows = -1;
    else {
        for (int64_t i = 0; i < n; i++) at[row_length - lengths[i] + 1]++;
        for (int64_t l = 0; l < row_length; l++) at[l + 1] += at[l];
        for (int64_t i = 0; i < n; i++) order[at[row_length - lengths[i]]++] = (int32_t)i;
        for (int64_t l = 0; l <= row_length; l++) first[l] = -1;
        for (int64_t k = 0; k < n; k++) {
            int64_t length = lengths[order[k]], node = leaves + length;
            if (!tree[node]) { /* up until a right neighbour holds a room, down to its smallest */
                while (node > 1 && ((node & 1) || !tree[node + 1])) node /= 2;
                if (node > 1) {
                    node++;
                    while (node < leaves) node = tree[2 * node] ? 2 * node : 2 * node + 1;
                }
            }
            int64_t room = row_length;
            int32_t row;
            if (node > 1) {
                room = node - leaves;
                row = first[room];
                first[room] = next[row];
                if (first[room] < 0)
                    for (tree[node] = 0; node > 1 && !tree[node ^ 1]; ) tree[node /= 2] = 0;
            } else row = (int32_t)rows++;
            row_of[order[k]] = row;
            if ((room -= length)) {
                next[row] = first[room];
                first[room] = row;
                for (node = leaves + room; node && !tree[node]; node /= 2) tree[node] = 1;
            }
        }
    }
    free(first); free(next); free(at); free(order); free(tree);
    return rows;
}
