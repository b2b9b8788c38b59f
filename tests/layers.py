#!/usr/bin/env python3
"""layers.py SRC: fails when a file includes something above its own layer.

Each folder of src may include itself and the folders listed for it, nothing else. Adding a line here is a decision about
the design; adding an include that needs one is not.
"""
import pathlib
import re
import sys

# folder: what it may look down on.
LAYERS = {
    "util": [],
    "data": ["util"],
    "loop": ["util"],
    "exec": ["loop", "util"],
    "tool": ["data", "util"],
    "define": ["tool", "data", "util"],
    "catalog": ["define", "tool", "exec", "loop", "data", "util"],
    "mcp": ["catalog", "define", "tool", "exec", "loop", "data", "util"],
    "transport": ["mcp", "catalog", "tool", "exec", "loop", "data", "util"],
    "app": ["transport", "mcp", "catalog", "define", "tool", "exec", "loop", "data", "util"],
}

# What a command is, is data for everyone; how it is run is not.
DATA_OF_EXEC = "exec/command.h"

# These contain no event loop: pure functions over text and structs, tested without one.
WITHOUT_LOOP = {"data", "define", "tool", "util"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"(?P<own>[^"]+)"|<(?P<system>[^>]+)>)', re.MULTILINE)

# Heavy headers, each in exactly one file, so that everything else compiles fast and knows nothing of them.
HEAVY = {"simdjson.h": "data/json.cc", "cxxopts.hpp": "app/options.cc", "spdlog/spdlog.h": "util/log.cc",
         "pcre2.h": "tool/pattern.cc"}


def complaints(src):
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".h", ".cc", ".c"):
            continue
        name = path.relative_to(src)
        folder = name.parts[0]
        if folder not in LAYERS:
            yield f"{name}: the folder {folder} is in no layer; see {pathlib.Path(__file__).name}"
            continue
        for match in INCLUDE.finditer(path.read_text()):
            own, system = match["own"], match["system"]
            if own:
                target = own.split("/")[0]
                if "/" not in own or not (src / own).exists():
                    yield f'{name}: "{own}" is not written as a path below src'
                elif own != DATA_OF_EXEC and target != folder and target not in LAYERS[folder]:
                    yield f'{name}: includes "{own}", which {folder} may not see'
            elif system in HEAVY and str(name) != HEAVY[system]:
                yield f"{name}: includes <{system}>, which belongs to {HEAVY[system]} alone"
            elif system == "uv.h" and folder in WITHOUT_LOOP:
                yield f"{name}: includes <uv.h>, but {folder} has no event loop"


found = list(complaints(pathlib.Path(sys.argv[1])))
for line in found:
    print(line)
sys.exit(1 if found else 0)
