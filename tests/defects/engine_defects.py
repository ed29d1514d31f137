"""Defects of the engine and of sessions, which two tests at least must notice (run_defects.py)."""

DEFECTS = {  # name: (file, text, what takes its place)
    "no read validation": (
        "storage/transaction/validation.cpp",
        "    if (entry.is_undisturbed(word)) [[likely]]\n      continue;\n"
        "    TransactionStatus status = validate_disturbed(entry, word, in_commit);\n"
        "    if (status != TransactionStatus::ok) return status;\n",
        "    static_cast<void>(word);\n    static_cast<void>(in_commit);\n"),
    "a read in the place of a forgotten one taken for it": (
        "storage/transaction/read_set.h",
        "    return index < entries_.size() && entries_[index].record == record;\n",
        "    static_cast<void>(record);\n    return index < entries_.size();\n"),
    "an own lock taken for an unchanged row": (
        "storage/transaction/read_set.h",
        "  bool is_undisturbed(TidWord word) const { return word.settled().bits() == (seen & word_bits); }\n",
        "  bool is_undisturbed(TidWord word) const {\n"
        "    return word.settled().bits() == (seen & word_bits) || (seen & own_lock_bit) != 0;\n  }\n"),
    "a TID not above what was read": (
        "storage/transaction/commit.cpp",
        "  return std::max({newest_locked_, worker_.last_tid(), seen});\n",
        "  static_cast<void>(seen);\n  return std::max(newest_locked_, worker_.last_tid());\n"),
    "what was written forgotten by a rollback of others": (
        "storage/transaction/write_set.cpp",
        "  if (stay == 0) filter_.clear();\n",
        "  filter_.clear();\n"),
    "what a scan has passed yielded again": (
        "storage/index/tree_scan.cpp",
        "  (forward ? lowest : highest) = frame.go_on_at;\n",
        "  static_cast<void>(forward);\n"),
    "no node validation": (
        "storage/transaction/validation.cpp",
        "  return nodes_.validates(since.nodes, since.nodes, nodes_.size())\n",
        "  return true\n"),
    "an insert counted as a removal": (
        "storage/index/tree_insert.cpp",
        "EntryTarget::to_record(fresh_));\n  changes_.changed = at.node;\n  changes_.before = at.version;\n"
        "  changes_.after = version.end_change();\n",
        "EntryTarget::to_record(fresh_));\n  changes_.changed = at.node;\n  changes_.before = at.version;\n"
        "  changes_.after = version.end_removal();\n"),
    "the heir of a removed node not looked at": (
        "storage/transaction/node_set.cpp",
        "    ref = ref.node->heir();\n",
        "    return true;\n"),
    "anybody's growth taken for one's own": (
        "storage/transaction/node_set.cpp",
        "  validation.rests_on_runs |= lies_in_run;\n",
        ""),
    "a run without what splits off it": (
        "storage/transaction/node_set.cpp",
        "    add_run({created.node, created.version, created.version});\n",
        "    static_cast<void>(created);\n"),
    "what has gone taken for gone before": (
        "storage/transaction/validation.cpp",
        "nodes_.met_removals() || nodes_.any_gone",
        "nodes_.any_gone"),
    "a lock that excludes others covered": (
        "storage/transaction/validation.cpp",
        "  if (gained_exclusion_ || !loaded_.empty()) return false;\n",
        ""),
    "what has gone from a node forgotten": (
        "storage/index/tree_remove.cpp",
        "  at.node->note_gone(deleted);\n",
        ""),
    "what has gone from a node not handed on": (
        "storage/index/tree_remove.cpp",
        "  previous->note_gone(node->newest_gone());\n",
        ""),
    "entries of a merged node left behind": (
        "storage/index/tree_remove.cpp",
        "  previous->take_entries(*node);\n",
        ""),
    "an unhooked record without its node": (
        "storage/transaction/validation.cpp",
        "  if (word.is_obsolete()) return entry.is_guarded();\n",
        "  if (word.is_obsolete()) return true;\n"),
    "lock order by arrival": (
        "storage/transaction/write_set.cpp",
        "    if (last - first > 1) {\n",
        "    if (last - first < 0) {\n"),
    "clients that read slowly taken for idle": (
        "server/net/client_wait.cpp",
        "  if (unread_.exchange(unread, std::memory_order_relaxed) != unread) {\n",
        "  if (unread_.exchange(unread, std::memory_order_relaxed) < -1) {\n"),
    "reply before durable": (
        "executor/worker/commit_queue.h",
        "    return service_ == nullptr || service_->durable_epoch() >= epoch;\n",
        "    return service_ == nullptr || service_->durable_epoch() >= epoch || true;\n"),
    "reclamation one epoch early": (
        "storage/epoch/reclaimer.cpp",
        "batches.take_first(safe, freeable_)",
        "batches.take_first(safe + 1, freeable_)"),
    "unhook without the obsolete mark": (
        "storage/transaction/unhook_queue.cpp",
        "  record->tid_word().unlock_obsolete();\n",
        "  record->tid_word().unlock();\n"),
    "intent bit lost at install": (
        "storage/record/tid_word.h",
        "    bits_.fetch_xor((old & ~TidWord::intent_bit) ^ installed, std::memory_order_release);\n",
        "    static_cast<void>(old);\n    bits_.store(installed, std::memory_order_release);\n"),
    "partial reads not compared": (
        "storage/record/record.cpp",
        "!equals_racing_row(row, range.offset, range.bytes, expected)",
        "!equals_racing_row(row, range.offset, 0, expected)"),
    "old row installed with the patches": (
        "storage/transaction/commit.cpp",
        "  std::memcpy(row.data(), base.data(), base.size());\n",
        ""),
}
