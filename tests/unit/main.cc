#define CATCH_CONFIG_RUNNER
#include "util/log.h"

#include <catch2/catch.hpp>

int main(int argc, char** argv) {
    mcpd::log::open(mcpd::log::Level::Off);
    return Catch::Session{}.run(argc, argv);
}
