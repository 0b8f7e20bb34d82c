/* The provider, for libraries between a program and its MPI library. */
#ifndef WEFT_PROVIDER_H
#define WEFT_PROVIDER_H

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Finds the provider among the libraries that are loaded: libfabric loads it for itself alone. */
static int find_provider(struct dl_phdr_info *library, size_t size, void *found)
{
    const char *name = strrchr(library->dlpi_name, '/');
    (void)size;
    name = name ? name + 1 : library->dlpi_name;
    if (strcmp(name, "libweft-fi.so") != 0 && strcmp(name, "libweft_fi.so") != 0)
        return 0;
    snprintf(found, 4096, "%s", library->dlpi_name);
    return 1;
}

/* A function of the provider; NULL if no provider is loaded, or it is older. */
static void *of_provider(const char *function)
{
    char path[4096] = "";
    dl_iterate_phdr(find_provider, path);
    void *library = path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, function) : NULL;
}

#endif
