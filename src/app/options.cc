#include "app/options.h"

// A comma is a part of a value, not a sign between two.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mcpd::app {

namespace {

constexpr std::array<std::pair<std::string_view, Verb>, 4> kVerbs{
    {{"serve", Verb::Serve}, {"list", Verb::List}, {"check", Verb::Check}, {"call", Verb::Call}}};

/// Those without a value. Their twins in the environment say 1 or true, or 0 or false.
constexpr std::array<std::string_view, 4> kSwitches{"stdio", "clean-env", "audit-arguments", "unsafe-permissions"};

/// Those with one, which the environment may give too.
constexpr std::array<std::string_view, 14> kValues{
    "root-directory", "tool-names",        "timeout",     "help-timeout", "max-output", "max-request", "max-running",
    "max-queue",      "working-directory", "config-file", "audit-log",    "name",       "log-level",   "log-format"};

constexpr std::string_view kUsage = R"(mcpd turns a directory of scripts into tools for AI assistants.

  mcpd [serve] --root-directory DIR --stdio    serve the directory
  mcpd list  [--json] [--names]                what clients see, and what is broken and why
  mcpd check [FILE...]                         look for mistakes; exit 65 when anything is broken
  mcpd call  TOOL [name=value...] [name:=JSON...] [--json OBJECT] [--state]
                                               run one tool as a client would

For every command but serve the root directory is the current one unless given.
Each option has a twin in the environment (MCPD_ROOT_DIRECTORY, ...); a flag wins.
)";

cxxopts::Options describe_options() {
    cxxopts::Options options{"mcpd", ""};
    options.add_options()("root-directory", "the directory that is served (required for serve)",
                          cxxopts::value<std::string>(), "DIR");
    options.add_options()("stdio", "serve the client that started us, on stdin and stdout");
    options.add_options()("tool-names",
                          "how tools are called: path, or portable (letters, digits, _ and -) (default: path)",
                          cxxopts::value<std::string>(), "path|portable");
    options.add_options()("timeout", "limit of a call in seconds, 0 for none; a tool's own wins (default: 300)",
                          cxxopts::value<std::string>(), "S");
    options.add_options()("help-timeout", "limit of --help and --state runs in seconds (default: 5)",
                          cxxopts::value<std::string>(), "S");
    options.add_options()("max-output", "bytes of a result's text (default: 1048576)", cxxopts::value<std::string>(),
                          "BYTES");
    options.add_options()("max-request", "bytes of one message (default: 4194304)", cxxopts::value<std::string>(),
                          "BYTES");
    options.add_options()("max-running", "calls that run at once (default: 32)", cxxopts::value<std::string>(), "N");
    options.add_options()("max-queue", "calls that wait for their turn (default: 1024)", cxxopts::value<std::string>(),
                          "N");
    options.add_options()("working-directory", "where tools run (default: where mcpd was started)",
                          cxxopts::value<std::string>(), "DIR");
    options.add_options()("config", "handed to every script as MCPD_CONFIG_KEY; repeatable",
                          cxxopts::value<std::vector<std::string>>(), "KEY=VALUE");
    options.add_options()("config-file", "a file of KEY=VALUE lines, for secrets: mode 0600",
                          cxxopts::value<std::string>(), "FILE");
    options.add_options()("clean-env", "tools inherit HOME, PATH, USER, LANG, LC_*, TZ, TMPDIR, XDG_* only");
    options.add_options()("audit-log", "write a line of JSON for each call", cxxopts::value<std::string>(), "FILE");
    options.add_options()("audit-arguments", "... with its arguments");
    options.add_options()("name", "what clients are told the server is called (default: mcpd)",
                          cxxopts::value<std::string>(), "NAME");
    options.add_options()("log-level", "debug, info, warning, error or off (default: info)",
                          cxxopts::value<std::string>(), "LEVEL");
    options.add_options()("log-format", "text, json or journal (default: by where stderr goes)",
                          cxxopts::value<std::string>(), "FORMAT");
    options.add_options()("unsafe-permissions", "run scripts that others can write, too");
    options.add_options()("json", "list: as JSON; call: all arguments at once",
                          cxxopts::value<std::string>()->implicit_value(""), "OBJECT");
    options.add_options()("names", "list: the names only");
    options.add_options()("state", "call: print the tool's state instead");
    options.add_options()("version", "print the version and exit");
    options.add_options()("help", "print this text and exit");
    options.add_options("words")("word", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional({"word"});
    options.allow_unrecognised_options();
    return options;
}

/// `MCPD_MAX_OUTPUT` of `max-output`.
std::string twin(std::string_view option) {
    std::string name = "MCPD_";
    for (const char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

Error invalid(std::string message) {
    return {Code::Invalid, std::move(message) + "; see mcpd --help"};
}

template <typename T>
Result<void> read_number(const cxxopts::ParseResult& parsed, const char* name, T least, T& into) {
    if (!parsed.count(name)) return {};
    const auto& text = parsed[name].as<std::string>();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= least) || value > T(1e9)) {
        return invalid("--" + std::string{name} + " or " + twin(name) + ": '" + text +
                       "' is not a number of at least " + (least == T(0) ? "0" : "1"));
    }
    into = value;
    return {};
}

/// What the environment says, as words that go before those of the command line, so that the latter win.
Result<std::vector<std::string>> words_of(const char* const* environment) {
    std::vector<std::string> words;
    const auto look = [&](std::string_view option) -> std::optional<std::string> {
        const std::string name = twin(option) + "=";
        for (const char* const* entry = environment; *entry; entry++) {
            if (std::string_view{*entry}.starts_with(name)) return std::string{*entry + name.size()};
        }
        return std::nullopt;
    };
    for (const auto option : kValues) {
        if (const auto value = look(option); value && !value->empty())
            words.push_back("--" + std::string{option} + "=" + *value);
    }
    for (const auto option : kSwitches) {
        const auto value = look(option).value_or("");
        if (value == "1" || value == "true") {
            words.push_back("--" + std::string{option});
        } else if (!value.empty() && value != "0" && value != "false") {
            return invalid(twin(option) + ": must be 1, true, 0 or false");
        }
    }
    return words;
}

Result<void> read_numbers(const cxxopts::ParseResult& parsed, Options& options) {
    struct Count {
        const char* name;
        std::size_t least;
        std::size_t& into;
    };
    for (const auto& [name, least, into] :
         {Count{"max-output", 1, options.max_output}, Count{"max-request", 1, options.max_request},
          Count{"max-running", 1, options.max_running}, Count{"max-queue", 0, options.max_queue}}) {
        if (const auto read = read_number(parsed, name, least, into); !read) return read;
    }
    if (const auto read = read_number(parsed, "timeout", 0.0, options.timeout); !read) return read;
    const auto read = read_number(parsed, "help-timeout", 0.0, options.help_timeout);
    if (read && options.help_timeout == 0) return invalid("--help-timeout: must be more than 0");
    return read;
}

Result<void> read_words(const cxxopts::ParseResult& parsed, Options& options) {
    const auto text = [&](const char* name, std::string& into) {
        if (parsed.count(name)) into = parsed[name].as<std::string>();
    };
    text("root-directory", options.root_directory);
    text("working-directory", options.working_directory);
    text("config-file", options.config_file);
    text("audit-log", options.audit_log);
    text("name", options.name);
    text("log-level", options.log_level);
    text("log-format", options.log_format);
    if (parsed.count("config")) options.config = parsed["config"].as<std::vector<std::string>>();
    options.stdio = parsed.count("stdio") > 0;
    options.clean_env = parsed.count("clean-env") > 0;
    options.audit_arguments = parsed.count("audit-arguments") > 0;
    options.unsafe_permissions = parsed.count("unsafe-permissions") > 0;

    std::string names = "path";
    text("tool-names", names);
    if (names != "path" && names != "portable") return invalid("--tool-names: must be path or portable, not " + names);
    options.portable_names = names == "portable";
    constexpr std::array<std::string_view, 5> kLevels{"debug", "info", "warning", "error", "off"};
    if (std::ranges::find(kLevels, options.log_level) == kLevels.end()) {
        return invalid("--log-level: must be one of: debug, info, warning, error, off");
    }
    constexpr std::array<std::string_view, 4> kFormats{"", "text", "json", "journal"};
    if (std::ranges::find(kFormats, options.log_format) == kFormats.end()) {
        return invalid("--log-format: must be one of: text, json, journal");
    }
    return {};
}

/// The verb, what follows it, and the options that belong to one verb only.
Result<void> read_verb(const cxxopts::ParseResult& parsed, Options& options) {
    if (parsed.count("word")) options.words = parsed["word"].as<std::vector<std::string>>();
    if (!options.words.empty()) {
        const auto verb = std::ranges::find(kVerbs, options.words.front(), &std::pair<std::string_view, Verb>::first);
        if (verb == kVerbs.end()) return invalid("'" + options.words.front() + "' is no command");
        options.verb = verb->second;
        options.words.erase(options.words.begin());
    }
    if (parsed.count("help")) options.verb = Verb::Help;
    if (parsed.count("version")) options.verb = Verb::Version;
    if (parsed.count("json")) {
        const auto& value = parsed["json"].as<std::string>();
        if (options.verb == Verb::List)
            options.as_json = true;
        else
            options.json_arguments = value;
    }
    options.only_names = parsed.count("names") > 0;
    options.state = parsed.count("state") > 0;

    const auto only_for = [&](const char* name, Verb verb, const char* of) -> Result<void> {
        if (parsed.count(name) && options.verb != verb && options.verb != Verb::Help) {
            return invalid("--" + std::string{name} + ": belongs to mcpd " + of);
        }
        return {};
    };
    if (const auto fits = only_for("names", Verb::List, "list"); !fits) return fits;
    if (const auto fits = only_for("state", Verb::Call, "call"); !fits) return fits;
    if (parsed.count("json") && options.verb != Verb::List) {
        if (const auto fits = only_for("json", Verb::Call, "list and call"); !fits) return fits;
    }
    const bool takes_words = options.verb == Verb::Check || options.verb == Verb::Call;
    if (!takes_words && !options.words.empty() && options.verb != Verb::Help && options.verb != Verb::Version) {
        return invalid("'" + options.words.front() + "' is not understood");
    }
    if (options.verb == Verb::Call && options.words.empty()) return invalid("call: which tool?");
    return {};
}

}  // namespace

Result<Options> parse_options(int argc, const char* const* argv, const char* const* environment) {
    const auto from_environment = words_of(environment);
    if (!from_environment) return from_environment.error();
    std::vector<std::string> words{"mcpd"};
    words.insert(words.end(), from_environment->begin(), from_environment->end());
    for (int i = 1; i < argc; i++) {
        words.emplace_back(argv[i]);
        // `--json OBJECT`: the library takes an optional value only with an equals sign.
        if (words.back() == "--json" && i + 1 < argc && argv[i + 1][0] == '{')
            words.back().append("=").append(argv[++i]);
    }
    std::vector<const char*> pointers;
    for (const auto& word : words) pointers.push_back(word.c_str());

    // The library throws on bad input; nothing of that leaves this function.
    try {
        auto description = describe_options();
        const auto parsed = description.parse(static_cast<int>(pointers.size()), pointers.data());
        if (!parsed.unmatched().empty()) return invalid("'" + parsed.unmatched().front() + "' is not understood");
        Options options;
        if (const auto read = read_words(parsed, options); !read) return read.error();
        if (const auto read = read_numbers(parsed, options); !read) return read.error();
        if (const auto read = read_verb(parsed, options); !read) return read.error();
        return options;
    } catch (const std::exception& problem) {
        return invalid(problem.what());
    }
}

std::string help_text() {
    std::string options = describe_options().help({""});
    // Without the library's own usage lines.
    if (const auto start = options.find("      --"); start != std::string::npos) options.erase(0, start);
    return std::string{kUsage} + "\n" + options;
}

}  // namespace mcpd::app
