/* A compiler that takes no time: it writes the depfile that a list beside the source names, and an "object" that depends on the source.
   `stub -c SOURCE -o OUTPUT -MF DEPFILE` or `stub --version`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long hash_file(const char* path, unsigned long long hash) {
  static char buffer[1 << 16];
  FILE* file = fopen(path, "rb");
  size_t count;
  if (!file) { fprintf(stderr, "stub: cannot read %s\n", path); exit(1); }
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
    for (size_t i = 0; i < count; i += 7) hash = (hash ^ (unsigned char)buffer[i]) * 1099511628211ULL;
  fclose(file);
  return hash;
}

static void compile(const char* source, const char* output, const char* depfile) {
  char list[4096], line[4096];
  unsigned long long hash = hash_file(source, 14695981039346656037ULL);
  snprintf(list, sizeof list, "lists/%s", source);
  FILE* names = fopen(list, "r");
  FILE* deps = fopen(depfile, "w");
  if (!names || !deps) { fprintf(stderr, "stub: no list or depfile for %s\n", source); exit(1); }
  fprintf(deps, "%s: %s", output, source);
  while (fgets(line, sizeof line, names)) {
    line[strcspn(line, "\n")] = 0;
    fprintf(deps, " \\\n %s", line);
  }
  fprintf(deps, "\n");
  fclose(names);
  fclose(deps);
  FILE* object = fopen(output, "wb");
  fprintf(object, "%s %llx\n", source, hash);
  fclose(object);
}

int main(int count, char** words) {
  const char *source = 0, *output = 0, *depfile = 0;
  for (int i = 1; i < count; i++) {
    if (!strcmp(words[i], "--version")) { puts("g++ (stub) 12.2.0"); return 0; }
    if (i + 1 < count && !strcmp(words[i], "-c")) source = words[++i];
    else if (i + 1 < count && !strcmp(words[i], "-o")) output = words[++i];
    else if (i + 1 < count && !strcmp(words[i], "-MF")) depfile = words[++i];
  }
  if (!source || !output || !depfile) return 1;
  compile(source, output, depfile);
  return 0;
}
