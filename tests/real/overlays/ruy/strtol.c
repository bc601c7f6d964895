/* The archives were made against glibc 2.38 or later, where strtol has this name in C23; older systems lack it. */
#include <stdlib.h>

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
