#pragma once

#include "catalog/keeper.h"
#include "loop/timer.h"
#include "mcp/exchange.h"

namespace mcpd::mcp {

class Server;

/// A request that waits for the first catalog, but not for ever: then it takes what there is.
class CatalogWait final : public Task {
public:
    using Then = void (*)(Server&, Exchange&);

    CatalogWait(Server& server, Exchange& exchange, Then then);

private:
    void on_complete();
    void on_patience_end();

    Server& server_;
    Exchange& exchange_;
    Then then_;
    catalog::Keeper::Wait wait_;
    loop::Timer patience_;
};

/// Calls `then` at once when the catalog is complete, later otherwise.
void with_catalog(Server& server, Exchange& exchange, CatalogWait::Then then);

}  // namespace mcpd::mcp
