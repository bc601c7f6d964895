/* Checks of the bridge's C tests: the first that fails ends the program with its place. */
#ifndef CHECK_H_
#define CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

#endif /* CHECK_H_ */
