#include "catalog/keeper.h"

#include "exec/engine.h"
#include "util/log.h"
#include "util/text.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

namespace mcpd::catalog {

Keeper::Keeper(exec::Engine& engine, Settings settings)
    : engine_(engine),
      settings_(std::move(settings)),
      permissions_(settings_.unsafe_permissions),
      // More than the machine has cores gives nothing.
      at_once_(std::max(1u, std::thread::hardware_concurrency())) {}

void Keeper::rescan() {
    Scan found = scan(settings_.around.root_directory, permissions_);
    for (const auto& warning : found.warnings) log::warning("{}", warning);
    warnings_ = std::move(found.warnings);

    std::set<std::string_view> names;
    for (const auto& candidate : found.candidates) names.insert(candidate.name);
    const auto is_gone = [&](const auto& name) { return !names.contains(name); };
    std::erase_if(records_, [&](const auto& record) { return is_gone(record.first); });
    std::erase_if(waiting_, [&](const Candidate& candidate) { return is_gone(candidate.name); });
    std::erase_if(asked_, [&](const auto& probe) { return is_gone(probe->candidate().name); });

    for (const auto& candidate : found.candidates) {
        const auto known = records_.find(candidate.name);
        if (known != records_.end() && known->second.candidate.source.identity == candidate.source.identity &&
            known->second.candidate.refused == candidate.refused) {
            continue;
        }
        if (candidate.refused.empty()) {
            ask(candidate);
        } else {
            log::warning("{}: {}", candidate.name, candidate.refused);
            records_[candidate.name] = {.candidate = candidate, .reason = candidate.refused};
        }
    }
    scanned_ = true;
    if (is_complete()) publish();
    wake();
}

bool Keeper::is_current(const std::string& name) {
    if (is_being_asked(name)) return false;
    const auto known = records_.find(name);
    if (known == records_.end()) return true;
    Candidate& candidate = known->second.candidate;
    if (identify(candidate.source.path) == candidate.source.identity &&
        !find_fault_above(settings_.around.root_directory, candidate.source.path, permissions_)) {
        return true;
    }
    // Whatever happened to it, the scan has the rules.
    rescan();
    return !is_being_asked(name);
}

bool Keeper::is_being_asked(const std::string& name) const {
    return std::ranges::any_of(asked_, [&](const auto& probe) { return probe->candidate().name == name; }) ||
           std::ranges::find(waiting_, name, &Candidate::name) != waiting_.end();
}

void Keeper::ask(const Candidate& candidate) {
    std::erase_if(waiting_, [&](const Candidate& other) { return other.name == candidate.name; });
    std::erase_if(asked_, [&](const auto& probe) { return probe->candidate().name == candidate.name; });
    waiting_.push_back(candidate);
    ask_next();
}

void Keeper::ask_next() {
    while (!waiting_.empty() && asked_.size() < at_once_) {
        Probe::Listener& self = *this;
        asked_.push_back(std::make_unique<Probe>(engine_, std::move(waiting_.front()), settings_.around,
                                                 settings_.help_timeout, self));
        waiting_.pop_front();
        asked_.back()->start();
    }
}

void Keeper::on_probed(Probe& probe, Result<define::Definition> result) {
    const Candidate candidate = probe.candidate();
    Record record{.candidate = candidate};
    if (result) {
        record.definition = *std::move(result);
        for (const auto& warning : record.definition.warnings) log::info("{}: {}", candidate.name, warning);
    } else {
        record.reason = result.error().message;
        log::warning("{}: {}", candidate.name, text::printable(record.reason));
    }
    records_[candidate.name] = std::move(record);
    std::erase_if(asked_, [&](const auto& other) { return other.get() == &probe; });
    ask_next();
    // Not after each of a thousand: a catalog is made of all of them.
    if (is_complete() || is_waited_for(candidate.name)) publish();
    wake();
}

bool Keeper::is_waited_for(const std::string& name) const {
    return std::ranges::any_of(waits_, [&](const Wait* wait) { return wait->name_ == name; });
}

void Keeper::publish() {
    std::vector<Entry> entries;
    std::vector<Broken> broken;
    for (const auto& [name, record] : records_) {
        if (record.reason.empty()) {
            entries.push_back({.tool = record.definition.tool,
                               .published = {},
                               .list_entry = {},
                               .warnings = record.definition.warnings});
        } else {
            broken.push_back({name, record.candidate.source.path, record.reason});
        }
    }
    const auto before =
        std::exchange(catalog_, std::make_shared<Catalog>(std::move(entries), std::move(broken), settings_.names));
    has_been_complete_ |= is_complete();
    if (on_published_) on_published_(*before);
}

void Keeper::wake() {
    for (Wait* wait : waits_) {
        if (wait->name_.empty() ? is_complete() : !is_being_asked(wait->name_)) wait->call_.schedule();
    }
}

Keeper::Wait::Wait(Keeper& keeper, std::string name, Callback<void()> call)
    : keeper_(keeper), name_(std::move(name)), call_(keeper.engine_.loop, call) {
    keeper_.waits_.push_back(this);
    keeper_.wake();
}

Keeper::Wait::~Wait() {
    std::erase(keeper_.waits_, this);
}

}  // namespace mcpd::catalog
