// A catalog over an engine without log, and a session on it.
#pragma once

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/catalog_view.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo::testing {

struct CatalogEngine : TestEngine {
  Catalog catalog{relations};
};

struct CatalogSession : TestSession {
  explicit CatalogSession(CatalogEngine& engine)
      : TestSession(engine), opened(open(engine.catalog, worker)), view(engine.catalog) {}
  CatalogSession(CatalogEngine& engine, RedoSink& sink)
      : CatalogSession(engine.parts(), engine.catalog, sink) {}
  CatalogSession(const EngineParts& parts, Catalog& catalog, RedoSink& sink)
      : TestSession(parts, sink), opened(open(catalog, worker)), view(catalog) {}

  void begin(TransactionMode mode = TransactionMode::one_shot) {
    TestSession::begin(mode);
    view.refresh();
  }
  TransactionStatus commit() {
    TransactionStatus status = view.before_commit(transaction);
    if (status == TransactionStatus::ok) status = transaction.commit();
    if (status == TransactionStatus::ok) {
      view.committed(transaction);
    } else {
      view.forget_local();
    }
    return status;
  }
  void abort() {
    transaction.abort();
    view.forget_local();
  }

  bool opened;
  CatalogView view;

 private:
  static bool open(Catalog& catalog, WorkerContext& worker) {
    if (catalog.snapshot() != nullptr) return false;
    catalog.create_system_relations();
    return catalog.open(worker, WaitSettings{});
  }
};

}  // namespace pgsilo::testing
