// A compiled program is a tool like any other. This source is not executable, so mcpd ignores it; the tool is made by
//
//     cc -O2 -o checksum checksum.c

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kMetadata[] =
    "{\"title\": \"Checksum\", \"description\": \"CRC-32 (as in zip and gzip) and size of a file\","
    " \"version\": \"1.0\", \"effect\": \"read\", \"category\": \"files\", \"tags\": [\"crc\", \"hash\"]}";
static const char kOptions[] =
    "{\"path\": {\"description\": \"File path\", \"required\": true, \"value_type\": \"string\","
    " \"size\": {\"min\": 1, \"max\": 4096}}}";

static int fail(int code, const char* path, const char* reason) {
    fprintf(stderr, "ERROR %s: %s\n", path, reason);
    return code;
}

static int fail_errno(const char* path) {
    switch (errno) {
        case ENOENT:
        case ENOTDIR: return fail(4, path, strerror(errno));
        case EACCES:
        case EPERM: return fail(3, path, strerror(errno));
        default: return fail(1, path, strerror(errno));
    }
}

static uint32_t add(uint32_t crc, const unsigned char* bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return crc;
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts(kMetadata);
        fprintf(stderr, "%s\n", kOptions);
        return 0;
    }

    const char* path = getenv("MCPD_OPT_path");
    if (!path) return fail(2, "path", "not given");

    // Not to wait for the other end of a pipe.
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) return fail_errno(path);
    if (!S_ISREG(status.st_mode)) return fail(2, path, "not a regular file");

    unsigned char buffer[65536];
    uint32_t crc = 0xFFFFFFFFu;
    unsigned long long size = 0;
    ssize_t count;
    while ((count = read(file, buffer, sizeof buffer)) > 0) {
        crc = add(crc, buffer, (size_t)count);
        size += (unsigned long long)count;
    }
    if (count < 0) return fail_errno(path);
    close(file);
    printf("{\"crc32\": \"%08x\", \"size\": %llu}\n", crc ^ 0xFFFFFFFFu, size);
    return 0;
}
