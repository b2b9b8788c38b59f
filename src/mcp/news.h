#pragma once

#include <list>

namespace mcpd::mcp {

/// Which lists differ from what clients were told.
struct Changes {
    bool tools = false;
    bool resources = false;

    bool any() const { return tools || resources; }
};

/// Tells whoever wants to know that lists have changed.
class News {
public:
    /// Reads from its construction to its destruction.
    class Reader {
    public:
        explicit Reader(News& news) : news_(news) { news_.readers_.push_back(this); }
        Reader(const Reader&) = delete;

        /// Must not destroy readers.
        virtual void on_changes(const Changes& changes) = 0;

    protected:
        ~Reader() { news_.readers_.remove(this); }

    private:
        News& news_;
    };

    void tell(const Changes& changes) {
        for (Reader* reader : readers_) reader->on_changes(changes);
    }

private:
    std::list<Reader*> readers_;
};

}  // namespace mcpd::mcp
