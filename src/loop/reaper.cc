#include "loop/reaper.h"

#include "loop/loop.h"
#include "util/file.h"
#include "util/log.h"
#include "util/text.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>

namespace mcpd::loop {

namespace {

/// Every process that ends raises SIGCHLD, thousands a second under load, nearly all of them enrolled. An orphan's zombie
/// can wait this long.
constexpr std::chrono::milliseconds kBetweenLooks{20};

/// How often one look may find things changed before it is given up for this turn.
constexpr int kMostLooks = 3;

/// Numbers stay below this, so that marks stay far from what anyone would set as a limit.
constexpr std::uint64_t kNumberSpan = std::uint64_t{1} << 47;

/// Numbers begin at random, because a daemon that runs as a tool of ours counts down from the mark it was given: had
/// both begun at 1, its processes would be taken for those of other calls once it is gone.
std::uint64_t random_start() {
    std::uint64_t value = 0;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) < 0) value = static_cast<std::uint64_t>(getpid()) << 20;
    return value % kNumberSpan;
}

bool is_gone(pid_t pid) {
    siginfo_t status{};
    const int result = waitid(P_PID, static_cast<id_t>(pid), &status, WEXITED | WNOHANG);
    return result < 0 || status.si_pid == pid;
}

}  // namespace

struct Reaper::Grave {
    Grave(Reaper& reaper, Process process)
        : reaper(reaper), process(std::move(process)), exit(Callback<void(int)>::to<&Grave::on_exit>(this)) {}

    void on_exit(int) {
        if (is_gone(process.pid)) reaper.forget(*this);
    }

    Reaper& reaper;
    Process process;
    Poll exit;
};

Reaper::Reaper(Loop& loop)
    : loop_(loop),
      last_number_(random_start()),
      pause_(loop, Callback<void()>::to<&Reaper::look>(this)),
      signals_(loop, {SIGCHLD}, Callback<void(int)>::to<&Reaper::on_signal>(this)) {
    rlimit locks{};
    getrlimit(RLIMIT_LOCKS, &locks);
    highest_mark_ = locks.rlim_max;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Orphans come to the first thread of the process; what another thread started is listed with that thread.
    const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
    proc_children_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!proc_children_) {
        log::warning("{}: {}: processes that leave their group will not be found", path, text::describe_errno(errno));
    }
}

Reaper::~Reaper() {
    // Killed when they were buried. What has not ended by now is left to whoever adopts it.
    for (auto& grave : graves_) is_gone(grave.process.pid);
}

std::uint64_t Reaper::next_number() {
    const auto span = std::clamp<std::uint64_t>(highest_mark_, 1, kNumberSpan);
    last_number_ = last_number_ % span + 1;
    return last_number_;
}

rlim_t Reaper::mark(std::uint64_t number) const {
    return highest_mark_ - std::min<std::uint64_t>(number, highest_mark_);
}

void Reaper::set_second_parent(pid_t thread) {
    if (thread == second_parent_ || thread == 0) return;
    second_parent_ = thread;
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/children";
    proc_second_children_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

void Reaper::bury(Process process) {
    kill(-process.pid, SIGKILL);
    auto& grave = graves_.emplace_back(*this, std::move(process));
    // Where no more can be watched, look() finds out.
    if (grave.exit.open(loop_, grave.process.pidfd.get()) == 0) grave.exit.start(UV_READABLE);
}

void Reaper::forget(Grave& grave) {
    discharge(grave.process.pid);
    graves_.remove_if([&](const Grave& other) { return &other == &grave; });
    if (on_change_) on_change_();
}

void Reaper::on_signal(int) {
    if (pause_.is_active()) return;
    const auto since = std::chrono::steady_clock::now() - last_look_;
    pause_.start(std::chrono::ceil<std::chrono::milliseconds>(kBetweenLooks - since));
}

void Reaper::look() {
    for (auto grave = graves_.begin(); grave != graves_.end();) {
        auto& current = *grave++;
        if (!current.exit.is_open() && is_gone(current.process.pid)) forget(current);
    }
    reap_orphans();
    if (on_change_) on_change_();
}

Reaper::Orphans Reaper::orphans() {
    Orphans result{.alive = {}, .settled = false};
    for (int looks = 0; looks < kMostLooks && !result.settled; looks++) result.settled = !reap_orphans();
    for (auto& [pid, number] : orphans_) {
        // Out of descriptors a moment ago, perhaps.
        if (!number) number = number_of(pid);
        if (!number) result.settled = false;
        result.alive.push_back({pid, number.value_or(0)});
    }
    return result;
}

/// Brings orphans_ up to date; true when it was not.
bool Reaper::reap_orphans() {
    last_look_ = std::chrono::steady_clock::now();
    bool changed = std::erase_if(orphans_, [](const auto& orphan) { return is_gone(orphan.first); }) > 0;
    for (const pid_t pid : children()) {
        if (enrolled_.contains(pid) || orphans_.contains(pid)) continue;
        changed = true;
        if (!is_gone(pid)) orphans_.emplace(pid, number_of(pid));
    }
    return changed;
}

std::vector<pid_t> Reaper::children() const {
    std::string list;
    const auto add = [&](const UniqueFd& file) {
        char chunk[4096];
        ssize_t size = lseek(file.get(), 0, SEEK_SET);
        while (size >= 0 && (size = read(file.get(), chunk, sizeof chunk)) > 0) {
            list.append(chunk, static_cast<std::size_t>(size));
        }
    };
    add(proc_children_);
    if (!launching_) add(proc_second_children_);

    std::vector<pid_t> pids;
    std::string_view rest = list;
    for (auto word = text::take_word(rest); !word.empty(); word = text::take_word(rest)) {
        pid_t pid = 0;
        std::from_chars(word.data(), word.data() + word.size(), pid);
        if (pid > 0) pids.push_back(pid);
    }
    return pids;
}

/// 0: none of ours. Nothing: it could not be read.
std::optional<std::uint64_t> Reaper::number_of(pid_t pid) const {
    constexpr std::string_view kRow = "Max file locks";
    const auto limits = file::read_start("/proc/" + std::to_string(pid) + "/limits", 4096);
    if (!limits) return std::nullopt;
    const auto row = limits->find(kRow);
    if (row == std::string::npos) return 0;
    // Soft, then hard. The hard one: only root can raise it again.
    std::string_view rest = text::first_line(std::string_view{*limits}.substr(row + kRow.size()));
    text::take_word(rest);
    const auto hard = text::take_word(rest);
    rlim_t mark = 0;
    if (std::from_chars(hard.data(), hard.data() + hard.size(), mark).ec != std::errc{}) return 0;
    return mark < highest_mark_ ? highest_mark_ - mark : 0;
}

}  // namespace mcpd::loop
