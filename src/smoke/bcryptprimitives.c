/* bcryptprimitives.dll for a wine that lacks it (before 9): the one function of it that Rust's standard library needs. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void* buffer, ULONG size); /* RtlGenRandom of advapi32 */

__declspec(dllexport) BOOL WINAPI ProcessPrng(unsigned char* buffer, SIZE_T size) { return SystemFunction036(buffer, (ULONG)size); }
