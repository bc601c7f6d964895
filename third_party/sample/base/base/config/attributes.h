// Compiler attributes under one name.
#ifndef BASE_CONFIG_ATTRIBUTES_H_
#define BASE_CONFIG_ATTRIBUTES_H_

#if defined(__GNUC__) || defined(__clang__)
#define BASE_COLD __attribute__((cold))
#define BASE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define BASE_COLD
#define BASE_LIKELY(condition) (condition)
#endif

#endif  // BASE_CONFIG_ATTRIBUTES_H_
