#pragma once

#include "catalog/catalog.h"
#include "catalog/permissions.h"
#include "catalog/probe.h"
#include "loop/deferred.h"

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace mcpd::catalog {

/// Keeps the catalog true to the directory: looks at the files, asks those that are new or changed, a few at a time, and
/// publishes what came of it.
class Keeper final : Probe::Listener {
public:
    struct Settings {
        tool::Surroundings around;  ///< its root directory is the one that is kept
        std::chrono::milliseconds help_timeout{5000};
        Names names = Names::Path;
        bool unsafe_permissions = false;
    };

    Keeper(exec::Engine& engine, Settings settings);

    /// Looks at the whole directory. What has not changed is not asked again.
    void rescan();

    /// What there is now; never null, empty before the first catalog.
    const std::shared_ptr<const Catalog>& catalog() const { return catalog_; }

    /// The first look at the directory is over: what the catalog does not have is not there.
    bool has_been_complete() const { return has_been_complete_; }

    /// Called after each catalog that is published, with the one before it.
    void set_listener(Callback<void(const Catalog&)> on_published) { on_published_ = on_published; }

    /// What the last look passed over, and why.
    const std::vector<std::string>& warnings() const { return warnings_; }

    const Permissions& permissions() const { return permissions_; }

    /// Every script that was found has been asked.
    bool is_complete() const { return scanned_ && asked_.empty() && waiting_.empty(); }

    /// Looks again at one tool's file before it is run. True: it is as the catalog has it, or it has gone, and so has its
    /// entry. False: it has changed, and is being asked; wait for it.
    bool is_current(const std::string& name);

    /// Someone who waits for the catalog. Destroying it is how one stops waiting.
    class Wait {
    public:
        /// Called once, later: when `name` has been asked, or, without a name, when all have.
        Wait(Keeper& keeper, std::string name, Callback<void()> call);
        ~Wait();
        Wait(const Wait&) = delete;

    private:
        friend class Keeper;
        Keeper& keeper_;
        std::string name_;
        loop::Deferred call_;
    };

    /// Makes a catalog of what is known so far, for a client that has waited long enough.
    void publish();

private:
    /// What is known about one file.
    struct Record {
        Candidate candidate;
        std::string reason;  ///< why it is no tool; empty: it is one
        define::Definition definition;
    };

    void on_probed(Probe& probe, Result<define::Definition> result) override;
    void ask(const Candidate& candidate);
    void ask_next();
    bool is_being_asked(const std::string& name) const;
    bool is_waited_for(const std::string& name) const;
    void wake();

    exec::Engine& engine_;
    Settings settings_;
    Permissions permissions_;
    std::size_t at_once_;
    std::vector<std::string> warnings_;
    bool scanned_ = false;
    bool has_been_complete_ = false;
    std::map<std::string, Record> records_;
    std::list<Candidate> waiting_;
    std::list<std::unique_ptr<Probe>> asked_;
    std::list<Wait*> waits_;
    Callback<void(const Catalog&)> on_published_;
    std::shared_ptr<const Catalog> catalog_ = std::make_shared<Catalog>();
};

}  // namespace mcpd::catalog
