/* A program that misbehaves on request, for the tests: misbehave WHAT [ARGUMENT].
 * In C and static, so that it starts fast and brings no library of its own. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void wait_for_ever(void) {
    for (;;) pause();
}

/* The lock is held as long as this process lives: how a test tells, without a process number, that it has died. */
static void hold(const char* lock) {
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
        perror(lock);
        exit(1);
    }
}

static void ignore_polite_signals(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

static void close_standard(void) {
    for (int fd = 0; fd <= 2; fd++) close(fd);
}

/* Returns in a process of its own session whose parents have gone, as a daemon does it. The caller returns too, when the
 * daemon has taken its lock. */
static int escape(const char* lock) {
    int ready[2];
    if (pipe(ready) < 0) exit(1);
    pid_t middle = fork();
    if (middle == 0) {
        setsid();
        if (fork() > 0) _exit(0);
        ignore_polite_signals();
        close_standard();
        hold(lock);
        close(ready[0]);
        close(ready[1]);
        return 1;
    }
    close(ready[1]);
    char byte;
    while (read(ready[0], &byte, 1) > 0) {
    }
    waitpid(middle, NULL, 0);
    return 0;
}

static void spew(size_t size) {
    char block[8192];
    memset(block, 'x', sizeof block);
    for (size_t i = 79; i < sizeof block; i += 80) block[i] = '\n';
    while (size > 0) {
        size_t part = size < sizeof block ? size : sizeof block;
        if (write(1, block, part) < 0 || write(2, block, part) < 0) exit(1);
        size -= part;
    }
}

static void print_descriptors(void) {
    DIR* directory = opendir("/proc/self/fd");
    for (struct dirent* entry; (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) printf("%s ", entry->d_name);
    }
    printf("\n");
}

static void print_process(void) {
    int death = 0;
    struct rlimit core, locks;
    prctl(PR_GET_PDEATHSIG, &death);
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_LOCKS, &locks);
    printf("leads session: %d\nleads group: %d\ndeath signal: %d\ncore limit: %lu\nmarked: %d\n", getsid(0) == getpid(),
           getpgrp() == getpid(), death, (unsigned long)core.rlim_max, locks.rlim_max != RLIM_INFINITY);
}

static void print_signals(void) {
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status)) {
        if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6) || !strncmp(line, "SigCgt", 6))
            fputs(line, stdout);
    }
}

static void say_goodbye(int signal) {
    (void)signal;
    (void)!write(1, "goodbye\n", 8);
    _exit(0);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    const char* argument = argc > 2 ? argv[2] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);

    if (!strcmp(what, "exit")) return atoi(argument);
    if (!strcmp(what, "die"))
        raise(atoi(argument));
    else if (!strcmp(what, "sleep"))
        sleep((unsigned)atoi(argument));
    else if (!strcmp(what, "spew"))
        spew(strtoul(argument, NULL, 10));
    else if (!strcmp(what, "descriptors"))
        print_descriptors();
    else if (!strcmp(what, "process"))
        print_process();
    else if (!strcmp(what, "signals"))
        print_signals();
    else if (!strcmp(what, "bad-utf8")) {
        (void)!write(1, "good \xff\xfe bad \xc3( \xed\xa0\x80 end\n", 23);
    } else if (!strcmp(what, "huge-line")) {
        for (size_t left = strtoul(argument, NULL, 10); left > 0; left--) fputc('y', stderr);
        fputs("\nshort\n", stderr);
    } else if (!strcmp(what, "print")) { /* argv, environment and directory */
        for (int i = 2; i < argc; i++) printf("argument %s\n", argv[i]);
        for (char** entry = environ; *entry; entry++) printf("environment %s\n", *entry);
        char directory[4096];
        printf("directory %s\n", getcwd(directory, sizeof directory));
    } else if (!strcmp(what, "count-input")) {
        char buffer[65536];
        size_t total = 0;
        for (ssize_t size; (size = read(0, buffer, sizeof buffer)) > 0;) total += (size_t)size;
        printf("%zu\n", total);
    } else if (!strcmp(what, "never-read")) { /* holds its input open, and does not look at it */
        printf("waiting\n");
        hold(argument);
        wait_for_ever();
    } else if (!strcmp(what, "close-outputs")) {
        close(1);
        close(2);
        usleep(200 * 1000);
        return 3;
    } else if (!strcmp(what, "ignore-term")) {
        ignore_polite_signals();
        hold(argument);
        printf("ready\n");
        wait_for_ever();
    } else if (!strcmp(what, "goodbye")) { /* tidies up when asked to end, and says so */
        signal(SIGTERM, say_goodbye);
        hold(argument);
        printf("ready\n");
        wait_for_ever();
    } else if (!strcmp(what, "stop")) {
        hold(argument);
        printf("ready\n");
        raise(SIGSTOP);
        wait_for_ever();
    } else if (!strcmp(what, "background")) { /* leaves a child that holds the pipes */
        pid_t child = fork();
        if (child == 0) {
            hold(argument);
            wait_for_ever();
        }
        printf("done\n");
    } else if (!strcmp(what, "late-words")) { /* what is left behind still prints, as with >(tee) */
        if (fork() == 0) {
            usleep(20 * 1000);
            printf("late\n");
            return 0;
        }
        printf("early\n");
    } else if (!strcmp(what, "escape")) { /* leaves a daemon behind, and waits itself */
        if (!escape(argument)) printf("ready\n");
        wait_for_ever();
    } else if (!strcmp(what, "escape-bare")) { /* the same, and the daemon empties its environment and its name */
        if (escape(argument)) {
            char *const bare_argv[] = {"x", "hold-on", (char*)argument, NULL}, *const none[] = {NULL};
            execve("/proc/self/exe", bare_argv, none);
        }
        printf("ready\n");
        wait_for_ever();
    } else if (!strcmp(what, "hold-on")) { /* what escape-bare becomes */
        ignore_polite_signals();
        hold(argument);
        wait_for_ever();
    } else if (!strcmp(what, "clone-parent")) { /* a sibling instead of a child */
        if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
            setsid();
            ignore_polite_signals();
            close_standard();
            hold(argument);
        }
        wait_for_ever();
    } else if (!strcmp(what, "escape-and-exit")) {
        if (escape(argument)) wait_for_ever();
        printf("done\n");
    } else {
        fprintf(stderr, "misbehave: how?\n");
        return 64;
    }
    return 0;
}
