/* Drawings of graphs, as texts of Graphviz. */
#define _GNU_SOURCE
#include <stdio.h>

#include "device/api/entry/entry.h"
#include "device/api/graph/node_kinds.h"

/* Write the nodes and edges of a graph. The names of nodes begin with that of the node
 * around them. Errors show in ferror at the end. */
static void
drawing_write_graph(const emu_graph *graph, const char *around, unsigned int flags,
                    FILE *file)
{
    const unsigned int details = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS;
    const unsigned int handles =
        CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES;

    for (size_t i = 0; i < graph->count; i++) {
        const emu_node *node = graph->nodes[i];
        const char *name = emu_node_kind_name(node->work->type);

        if (node->work->name != NULL) {
            name = node->work->name(node->payload.data);
        }
        (void)fprintf(file, "    \"%snode_%zu\" [shape=\"box\" label=\"%zu\\n%s",
                      around, i, i, name);
        if ((flags & details) != 0 && node->work->draw != NULL) {
            node->work->draw(node->payload.data, file);
        }
        if ((flags & handles) != 0) {
            (void)fprintf(file, "\\nhandle %p", (const void *)node);
        }
        (void)fprintf(file, "\"];\n");
        for (size_t k = 0; k < node->after.count; k++) {
            const CUgraphEdgeData *data = &node->after.data[k];

            (void)fprintf(file, "    \"%snode_%zu\" -> \"%snode_%zu\"", around,
                          node->after.nodes[k]->number, around, i);
            if (!emu_edge_is_plain(data)) {
                (void)fprintf(file, " [style=\"dashed\" label=\"port %u\"]",
                              data->from_port);
            }
            (void)fprintf(file, ";\n");
        }
    }
}

/* Write a graph, and those of its nodes in frames. */
static void
drawing_write(const emu_graph *graph, const char *around, unsigned int flags,
              FILE *file)
{
    drawing_write_graph(graph, around, flags, file);
    for (size_t i = 0; i < graph->count; i++) {
        const emu_node *node = graph->nodes[i];

        for (size_t k = 0; k < node->body_count; k++) {
            char inner[256];

            (void)snprintf(inner, sizeof(inner), "%sgraph_%zu_%zu_", around, i, k);
            (void)fprintf(file, "    subgraph \"cluster_%s\" {\n", inner);
            (void)fprintf(file, "    label=\"graph %zu of node %zu\";\n", k, i);
            drawing_write(node->bodies[k], inner, flags, file);
            (void)fprintf(file, "    }\n");
        }
    }
}

static CUresult
drawing_write_file(const emu_graph *graph, const char *path, unsigned int flags)
{
    FILE *file = fopen(path, "w");
    bool good;

    if (file == NULL) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    (void)fprintf(file, "digraph dot {\n");
    drawing_write(graph, "", flags, file);
    (void)fprintf(file, "}\n");
    good = ferror(file) == 0;
    if (fclose(file) != 0 || !good) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuGraphDebugDotPrint(emu_graph *graph, const char *path, unsigned int flags)
{
    if (path == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return drawing_write_file(graph, path, flags);
}
