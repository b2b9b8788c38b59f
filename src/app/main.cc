#include "app/options.h"
#include "util/file.h"
#include "util/log.h"

#include <sysexits.h>

#include <cstdio>

using namespace mcpd;

namespace {

/// For the person at the keyboard: a line without a date.
int refuse(const std::string& message) {
    std::fprintf(stderr, "mcpd: %s\n", message.c_str());
    return EX_USAGE;
}

}  // namespace

int main(int argc, char** argv) {
    const auto descriptors = file::ensure_standard_descriptors();
    log::open();
    if (!descriptors) {
        log::error("{}", descriptors.error().message);
        return EX_OSERR;
    }

    const auto options = app::parse_options(argc, argv);
    if (!options) return refuse(options.error().message);
    if (options->help) {
        std::fputs(app::help_text().c_str(), stdout);
        return EX_OK;
    }
    if (options->version) {
        std::puts("mcpd " MCPD_VERSION);
        return EX_OK;
    }
    return refuse("nothing to do: this version answers --version and --help only");
}
