#include "mcp/catalog_wait.h"

#include "mcp/server.h"

namespace mcpd::mcp {

CatalogWait::CatalogWait(Server& server, Exchange& exchange, Then then)
    : server_(server),
      exchange_(exchange),
      then_(then),
      wait_(server.keeper(), "", Callback<void()>::to<&CatalogWait::on_complete>(this)),
      patience_(server.engine().loop, Callback<void()>::to<&CatalogWait::on_patience_end>(this)) {
    patience_.start(server.settings().help_timeout);
}

void CatalogWait::on_complete() {
    // It may replace us as the exchange's task.
    then_(server_, exchange_);
}

void CatalogWait::on_patience_end() {
    server_.keeper().publish();
    on_complete();
}

void with_catalog(Server& server, Exchange& exchange, CatalogWait::Then then) {
    if (server.keeper().has_been_complete()) return then(server, exchange);
    exchange.set_task(std::make_unique<CatalogWait>(server, exchange, then));
}

}  // namespace mcpd::mcp
