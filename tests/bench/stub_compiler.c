/* A compiler that takes no time. `stub -c SOURCE -o OUTPUT -MF DEPFILE` writes an "object" that depends on the source, and the depfile: what a
   list beside the source names (lists/SOURCE), else the closure of the source's include lines, as if no condition excluded any.
   `stub @FILE` with -o in the file links: the program is a copy of itself. As such it makes the file that -o names, for LLVM's tables.
   `stub --version`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST = 4096, TABLE = 1 << 15 };
static char* folders[2048]; /* searched in this order; the first `quoted` for "..." alone */
static int folder_count, quoted;
static char* seen[TABLE];
static FILE* deps;

static void die(const char* what, const char* file) {
  fprintf(stderr, "stub: %s %s\n", what, file);
  exit(1);
}

static unsigned long long hash_bytes(const char* bytes, size_t count, size_t step, unsigned long long hash) {
  for (size_t i = 0; i < count; i += step) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211ULL;
  return hash;
}

static char* read_file(const char* path, size_t* count) {
  struct stat facts;
  FILE* file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &facts) || !S_ISREG(facts.st_mode)) {
    if (file) fclose(file);
    return 0;
  }
  char* text = malloc(facts.st_size + 1);
  *count = fread(text, 1, facts.st_size, file);
  text[*count] = 0;
  fclose(file);
  return text;
}

static int first_time(const char* path) {
  size_t slot = hash_bytes(path, strlen(path), 1, 14695981039346656037ULL) % TABLE;
  while (seen[slot]) {
    if (!strcmp(seen[slot], path)) return 0;
    slot = (slot + 1) % TABLE;
  }
  seen[slot] = strdup(path);
  return 1;
}

static void scan(const char* path, const char* text);

static int include(const char* path) {
  size_t count;
  char* text = read_file(path, &count);
  if (!text) return 0;
  if (first_time(path)) {
    fprintf(deps, " \\\n %s", path);
    scan(path, text);
  }
  free(text);
  return 1;
}

static void find(const char* from, const char* name, int in_quotes) {
  char path[2 * LONGEST];
  const char* slash = strrchr(from, '/');
  if (in_quotes) {
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, name);
    if (include(path)) return;
  }
  snprintf(path, sizeof path, "%c%s", in_quotes ? '"' : '<', name);
  if (!first_time(path)) return; /* the folders hold what they held before */
  for (int i = in_quotes ? 0 : quoted; i < folder_count; i++) {
    snprintf(path, sizeof path, "%s/%s", folders[i], name);
    if (include(path)) return;
  }
}

static void scan(const char* path, const char* text) {
  for (const char* hash = strchr(text, '#'); hash; hash = strchr(hash + 1, '#')) {
    char name[LONGEST];
    const char* word = hash + 1 + strspn(hash + 1, " \t");
    if (strncmp(word, "include", 7)) continue;
    word += 7 + strspn(word + 7, " \t");
    if (*word != '"' && *word != '<') continue;
    size_t length = strcspn(word + 1, "\">\n");
    if (length >= sizeof name) continue;
    memcpy(name, word + 1, length);
    name[length] = 0;
    find(path, name, *word == '"');
  }
}

static void compile(const char* source, const char* output, const char* depfile) {
  char list[LONGEST], line[LONGEST];
  size_t count;
  char* text = read_file(source, &count);
  deps = fopen(depfile, "w");
  if (!text || !deps) die("cannot read the source, or write the depfile, of", source);
  fprintf(deps, "%s: %s", output, source);
  snprintf(list, sizeof list, "lists/%s", source);
  FILE* names = fopen(list, "r");
  if (names) {
    while (fgets(line, sizeof line, names)) {
      line[strcspn(line, "\n")] = 0;
      fprintf(deps, " \\\n %s", line);
    }
    fclose(names);
  } else {
    scan(source, text);
  }
  fprintf(deps, "\n");
  fclose(deps);
  FILE* object = fopen(output, "wb");
  if (!object) die("cannot write", output);
  fprintf(object, "%s %llx\n", source, hash_bytes(text, count, 7, 14695981039346656037ULL));
  fclose(object);
}

static void copy_self(const char* output) {
  size_t count;
  char* self = read_file("/proc/self/exe", &count);
  FILE* program = fopen(output, "wb");
  if (!self || !program) die("cannot write", output);
  fwrite(self, 1, count, program);
  fclose(program);
  chmod(output, 0755);
}

static void link_by(const char* response_file) {
  char output[LONGEST];
  size_t count;
  char* text = read_file(response_file, &count);
  char* flag = text ? strstr(text, "-o") : 0;
  if (!flag || sscanf(flag, "-o %4095s", output) != 1) die("no -o in", response_file);
  copy_self(output);
}

static void add_folder(char* flag, char* next) {
  static const char* kinds[] = {"-iquote", "-isystem", "-I"};
  for (int kind = 0; kind < 3; kind++) {
    size_t length = strlen(kinds[kind]);
    if (strncmp(flag, kinds[kind], length) || folder_count == 2048) continue;
    char* folder = flag[length] ? flag + length : next;
    if (!folder) return;
    if (kind) {
      folders[folder_count] = folder;
    } else { /* before those of "<...>" too */
      memmove(folders + quoted + 1, folders + quoted, (folder_count - quoted) * sizeof *folders);
      folders[quoted++] = folder;
    }
    folder_count++;
    return;
  }
}

int main(int count, char** words) {
  const char *source = 0, *output = 0, *depfile = 0;
  for (int i = 1; i < count; i++) {
    char* next = i + 1 < count ? words[i + 1] : 0;
    if (!strcmp(words[i], "--version")) return puts("g++ (stub) 12.2.0") < 0;
    if (words[i][0] == '@') return link_by(words[i] + 1), 0;
    if (next && !strcmp(words[i], "-c")) source = next;
    else if (next && !strcmp(words[i], "-o")) output = next;
    else if (next && !strcmp(words[i], "-MF")) depfile = next;
    else add_folder(words[i], next);
  }
  if (source && output && depfile) return compile(source, output, depfile), 0;
  if (!output || strstr(words[0], "tblgen") == 0) die("nothing to do for", words[0]);
  FILE* made = fopen(output, "w");
  if (!made) die("cannot write", output);
  return fprintf(made, "// a table\n") < 0 || fclose(made);
}
