/* A host library that is loaded at run time: its functions by name, and what differs between operating systems.
 *
 *   host_open("libLiteRtLm.so");
 *   CALL(int, "answer", (int))(42);
 */
#ifndef SMOKE_HOST_H_
#define SMOKE_HOST_H_

#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <windows.h>
/* clang-format off: needs windows.h */
#include <tlhelp32.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <dirent.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#endif

static void* host;

/* Ends the program; `why` may be NULL. */
static void fail(const char* what, const char* why) {
  fflush(stdout);
  fprintf(stderr, "smoke: %s: %s\n", what, why != NULL && *why != '\0' ? why : "no reason is given");
  exit(1);
}

static void* load(const char* path) {
#if defined(_WIN32)
  void* library = (void*)LoadLibraryA(path);
  if (library == NULL) {
    char code[32];
    snprintf(code, sizeof code, "LoadLibrary error %lu", (unsigned long)GetLastError());
    fail(path, code);
  }
#else
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) fail(path, dlerror());
#endif
  return library;
}

static void* symbol(const char* name) {
#if defined(_WIN32)
  void* address = (void*)GetProcAddress((HMODULE)host, name);
#else
  void* address = dlsym(host, name);
#endif
  if (address == NULL) fail(name, "the host does not export it");
  return address;
}

static void pause_briefly(void) {
#if defined(_WIN32)
  Sleep(1);
#else
  usleep(1000);
#endif
}

/* The threads of this process, or -1 where that cannot be known. */
static int count_threads(void) {
  int count = 0;
#if defined(_WIN32)
  THREADENTRY32 entry = {.dwSize = sizeof entry};
  HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  for (BOOL more = Thread32First(snapshot, &entry); more; more = Thread32Next(snapshot, &entry)) {
    count += entry.th32OwnerProcessID == GetCurrentProcessId();
  }
  CloseHandle(snapshot);
#elif defined(__linux__)
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == NULL) return -1;
  for (struct dirent* task = readdir(tasks); task != NULL; task = readdir(tasks)) count += task->d_name[0] != '.';
  closedir(tasks);
#elif defined(__APPLE__)
  thread_act_array_t threads;
  mach_msg_type_number_t number;
  if (task_threads(mach_task_self(), &threads, &number) != KERN_SUCCESS) return -1;
  count = (int)number;
#else
  count = -1;
#endif
  return count;
}

/* Calls an exported function by its type: CALL(int, "name", (void*, int))(object, 3). */
#define CALL(result, name, parameters) ((result(*) parameters)symbol(name))

#endif /* SMOKE_HOST_H_ */
