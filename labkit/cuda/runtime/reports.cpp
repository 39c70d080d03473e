// Reports: equal ones are one with a count; there is room for as many as anybody reads.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include "runtime.h"

static constexpr int ROOM = 512;
static constexpr size_t PRINTED = 1 << 16;
static Report reports[ROOM];
static int count;
static char printed[PRINTED];
static size_t printed_bytes;

Report report(Kind kind, Site site) {
    Report made{};
    made.kind = kind;
    made.severity = ERROR;
    made.site = site;
    made.thread = running ? running->thread : -1;
    made.other_thread = -1;
    made.block = block;
    return made;
}

static bool alike(const Report& a, const Report& b) {
    return a.kind == b.kind && !strcmp(a.array, b.array) &&
           ((a.site == b.site && a.other_site == b.other_site) || (a.site == b.other_site && a.other_site == b.site));
}

void add(const Report& made, long times) {
    for (int i = 0; i < count; i++)
        if (alike(reports[i], made)) {
            int64_t sum = reports[i].count + times;
            if (made.severity > reports[i].severity) reports[i] = made;  // the worse one explains
            reports[i].count = sum;
            return;
        }
    if (count == ROOM) return;
    reports[count] = made;
    reports[count].count = times;
    count++;
}

void name_array(Report& made, const Memory& memory, const char* address, size_t size) {
    int64_t unit = memory.unit ? memory.unit : int64_t(size), offset = address - memory.start;
    snprintf(made.array, sizeof made.array, "%s", memory.name);
    made.element = offset < 0 ? (offset - unit + 1) / unit : offset / unit;
    if (offset >= 0 && size_t(offset) < memory.bytes && offset + size > memory.bytes) made.element = memory.bytes / unit;
    made.size = memory.bytes / unit;
}

void clear_reports() { count = 0, printed_bytes = 0; }

#pragma GCC visibility push(default)
extern "C" {
const Report* host_reports(int* number) {
    *number = count;
    return reports;
}
const char* host_printed(size_t* bytes) {
    *bytes = printed_bytes;
    return printed;
}
int cu_printf(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t left = PRINTED - printed_bytes;
    int wanted = vsnprintf(printed + printed_bytes, left, format, arguments);
    va_end(arguments);
    if (wanted > 0) printed_bytes += size_t(wanted) < left ? wanted : left ? left - 1 : 0;
    return wanted;
}
void cu_assertion_failed(int line) {
    add(report(ASSERTION, IS_LINE + line));
    kill_thread();
}
}
