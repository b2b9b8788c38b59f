#define CATCH_CONFIG_RUNNER
#include "util/log.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

/// Makes clone3 and close_range answer ENOSYS, as old kernels and the filters of containers do.
bool forget_new_system_calls() {
    // Without close_range, children close one descriptor after the other.
    const rlimit few{1024, 1024};
    setrlimit(RLIMIT_NOFILE, &few);
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    mcpd::log::open(mcpd::log::Level::Off);
    if (std::getenv("MCPD_TEST_OLD_KERNEL") && !forget_new_system_calls()) {
        std::perror("seccomp");
        return 77;  // Meson takes that for "skipped"
    }
    return Catch::Session{}.run(argc, argv);
}
