"""Defects of log, checkpoints and archives, which a test of crash_wal must notice (run_defects.py)."""

DURABILITY_DEFECTS = {  # and which tests of crash_wal are run
    "begin blocks after the control file": (
        "wal/wal.cpp",
        "  return state.begin_logs(why) && state.save_control(why) && state.leave_backup_label(why);\n",
        "  return state.save_control(why) && state.begin_logs(why) && state.leave_backup_label(why);\n",
        "LostLog.*"),
    "begin blocks not synced": (
        "wal/log/batch_writer.cpp",
        "  if (result.ok() && segment_.file->synced_end() < offset_) result = segment_.file->sync_data();\n",
        "",
        "LostLog.*:PowerCut.*"),
    "marks of progress not checked": (
        "wal/recovery/log_analyzer.cpp",
        "options_.mark != nullptr && options_.mark->id == incarnation.id ? options_.mark : nullptr",
        "options_.mark != nullptr && options_.mark->id != incarnation.id ? options_.mark : nullptr",
        "LostLog.*"),
    "incarnations known by their numbers only": (
        "wal/recovery/incarnation_parts.cpp",
        "  return incarnation.id != Uuid{} && run.incarnation_tag != short_identity(incarnation.id);\n",
        "  return incarnation.id != Uuid{} && run.incarnation_tag == ~short_identity(incarnation.id);\n",
        "LostLog.*:BackupTest.WhatGoesOn*:LogArchiveTest.*Copy*"),
    "parents not compared": (
        "wal/backup/log_history.cpp",
        "      if (found == by_id_.end()) return is_stray(*behind);\n",
        "      if (found == by_id_.end()) break;\n",
        "LogArchiveTest.*"),
    "checksums of footers not compared": (
        "wal/recovery/opened_checkpoint.cpp",
        "    bool known = file_.footer_checksum == 0 || checksum_of_footer(bytes) == file_.footer_checksum;\n",
        "    bool known = true;\n",
        "CheckpointFiles.*:SkippedBlocks.*:ScrubberTest.*"),
    "the server's logs read that a backup's label names": (
        "wal/backup/backup_places.cpp",
        "    if (lies_inside(files, join_path(backup, place), backup)) found->push_back(place);\n",
        "    found->push_back(place);\n",
        "BackupPlaces*"),
    "the server's checkpoint files read that a backup's label names": (
        "wal/backup/backup_copy.cpp",
        "    if (source_.is_backup) file.directory = places.empty() ? \"\" : places.front();\n",
        "",
        "BackupPlaces*"),
    "blocks that are left out not told": (
        "wal/recovery/checkpoint_loader.cpp",
        "    lost_->push_back({.relation = block.relation,\n",
        "    std::vector<LostBlock>().push_back({.relation = block.relation,\n",
        "SkippedBlocks.*"),
    "damaged blocks read by the scrubber not told": (
        "wal/recovery/scrubber.cpp",
        "      if (fault) note(fault, contents_of(block));\n",
        "",
        "ScrubberTest.*"),
    "damaged segments read by the scrubber not told": (
        "wal/recovery/scrubber.cpp",
        "  if (!last || (behind && !ends_here)) note(CheckpointFault::damaged(damaged_log(path, at)), \"\");\n",
        "  static_cast<void>(ends_here);\n",
        "ScrubberTest.*"),
    "a backup's files taken for the server's own": (
        "wal/checkpoint/checkpoint_origin.cpp",
        "(!start.copied || inside)",
        "(!start.copied || inside || start.id == incarnation)",
        "SharedCheckpoints.*"),
    "the server's files behind a link taken for a backup's": (
        "wal/checkpoint/checkpoint_origin.cpp",
        "lies_inside(files, where, data_directory)",
        "!directory.starts_with('/')",
        "SharedCheckpoints.*"),
    "another copy's log directories taken": (
        "wal/wal_copies.cpp",
        "  *may = marked == copy && (",
        "  *may = true || (",
        "CopiesLogs.*"),
    "what an upgraded copy is given first taken for its own": (
        "wal/wal_copies.cpp",
        "  if (lies_inside(files, log.path(), directory)) *own = true;\n",
        "  if (marks_copy || lies_inside(files, log.path(), directory)) *own = true;\n",
        "CopiesLogs.*"),
    "logs of a copy without marks taken by the server": (
        "wal/wal_copies.cpp",
        "  if (!start.alone) return true;\n",
        "  if (!start.alone) return false;\n",
        "CopiesLogs.*"),
    "begin blocks of starts that died taken for another copy's": (
        "wal/wal_copies.cpp",
        "  if (!start.alone) return true;\n",
        "  return true;\n",
        "CopiesLogs.*"),
    "a copy not known after many starts": (
        "wal/wal_open.cpp",
        "  forgotten = control.own_starts.empty();\n",
        "  forgotten = control.own_starts.empty();\n  restored = restored && forgotten;\n",
        "CopiesLogs.*"),
    "the server's starts taken for a backup's own behind an older version": (
        "wal/wal_open.cpp",
        "start.copied = !known || ",
        "start.copied = !known && ",
        "SharedCheckpoints.*"),
    "checkpoint files that could not be removed forgotten": (
        "wal/checkpoint/checkpoint_retention.cpp",
        "  std::erase_if(left_, [this](LeftFile& left) { return is_done_with(left); });\n",
        "  for (LeftFile& left : left_) static_cast<void>(is_done_with(left));\n  left_.clear();\n",
        "SharedCheckpoints.*"),
    "checkpoint files that could not be removed tried without end": (
        "wal/checkpoint/checkpoint_retention.cpp",
        "  std::erase_if(left_, [this](LeftFile& left) { return is_done_with(left); });\n",
        "  std::erase_if(left_, [this](LeftFile& left) { return is_done_with(left); });\n  untidy_ = !left_.empty();\n",
        "StubbornCheckpoints.*"),
    "the file of another under a checkpoint's name removed": (
        "wal/checkpoint/checkpoint_run.cpp",
        "    if (!writer->created()) continue;\n",
        "",
        "SharedCheckpoints.*"),
    "a checkpoint's number that another copy has": (
        "wal/checkpoint/checkpointer.cpp",
        "last_number_(std::max(control.checkpoint.number, options_.taken_number))",
        "last_number_(control.checkpoint.number)",
        "SharedCheckpoints.*"),
    "segments at a slot retired": (
        "wal/checkpoint/checkpoint_retention.cpp",
        "      std::min(cut_segment(control_.checkpoint, identity), slots_.first_needed(identity));\n",
        "      cut_segment(control_.checkpoint, identity);\n",
        "LogSlotsTest.*:LogArchiveTest.*"),
    "a slot moved on before it is written": (
        "wal/checkpoint/log_slots.cpp",
        "  if (moved.owner == 0) result.outcome = save_release(slots, &result.why);\n",
        "",
        "LogSlotsTest.*"),
    "segments given up that are not archived yet": (
        "wal/log/segment_store.cpp",
        "    if (begun.complete >= epoch) break;\n",
        "    static_cast<void>(epoch);\n",
        "LogSlotsTest.*:LogArchiveTest.*"),
    "an archived segment's end not looked for": (
        "wal/backup/log_archive.cpp",
        "    if (there && !append(source, *log)) return false;\n    if (!next) return true;\n",
        "    if (there && log->offset == 0 && !append(source, *log)) return false;\n    if (!next) return true;\n",
        "LogArchiveTest.*"),
    "an archive that is replaced not noticed": (
        "wal/backup/log_archive_place.cpp",
        "    known_ &= same;\n",
        "",
        "ReplacedArchiveTest.*"),
    "an archive that is replaced in the midst of a turn not noticed": (
        "wal/backup/log_archive_place.cpp",
        "  if (same) return true;\n  notes_may_differ_ = true;\n",
        "  notes_may_differ_ |= !same;\n  if (notes_may_differ_ || same) return true;\n",
        "ReplacedArchiveTest.*"),
    "an archive that is not whole yet gone on with": (
        "wal/backup/log_archive_place.cpp",
        "    was_moved_ |= noted_.has_value();\n",
        "",
        "ReplacedArchiveTest.*"),
    "an archived segment's length not waited for": (
        "wal/backup/log_archive_place.cpp",
        "    const bool is_whole = is_there && reaches(**log, end) && has_its_length(**log);\n",
        "    const bool is_whole = is_there && reaches(**log, end);\n",
        "ReplacedArchiveTest.*"),
    "nothing given back by slots on a full device": (
        "wal/checkpoint/log_slots.cpp",
        "  if (saved != SlotOutcome::no_space) return saved;\n",
        "  if (saved != SlotOutcome::no_space || !why->empty()) return saved;\n",
        "LogSlotsTest.*"),
    "what only memory has of slots not written later": (
        "wal/checkpoint/checkpointer.cpp",
        "  if (slots_.lag()) give_slots_room();\n",
        "",
        "LogSlotsTest.*:SlotsFileTest.*"),
    "no room made for the file of slots": (
        "wal/checkpoint/checkpointer_space.cpp",
        "  if (!remove_retired_segment()) return;\n",
        "  return;\n",
        "LogSlotsTest.*"),
    "log of other devices given up for the file of slots": (
        "wal/checkpoint/checkpointer_space.cpp",
        "      if (!lie_together(parts_.files, segments.directory(), parts_.data_directory)) continue;\n",
        "",
        "SlotsFileTest.*"),
    "what a refused change of slots left on disk stays there": (
        "wal/checkpoint/log_slots.cpp",
        "  lag_.store(true, std::memory_order_relaxed);\n  holds_.log_has_grown();\n",
        "",
        "SlotsFileTest.*"),
    "slots without a checkpoint name no segments": (
        "wal/checkpoint/log_slots.cpp",
        "  if (reserve) name_first_segments(&result.slot);\n",
        "",
        "LogSlotsTest.*"),
    "checkpoints that give no log back follow each other": (
        "wal/checkpoint/checkpointer_schedule.cpp",
        "(is_short && may_relieve(now, grown))",
        "is_short",
        "FullDisk.*"),
    "what the server lost stays in the archive": (
        "wal/backup/log_archive_ownership.cpp",
        "  return !stays && archived.recorded <= *counted && holds_nothing_up_to(log, *counted);\n",
        "  return !stays && stood_alone;\n",
        "ArchiveEndsTest.*"),
    "what a start logged elsewhere not looked at": (
        "wal/backup/log_archive_ownership.cpp",
        "  return !stays && archived.recorded <= *counted && holds_nothing_up_to(log, *counted);\n",
        "  return !stays && holds_nothing_up_to(log, *counted);\n",
        "NamelessStartsTest.*"),
    "a start that was never named stays in the archive": (
        "wal/backup/log_archive_ownership.cpp",
        "    return stood_alone && own && own->parent == now.parent && !archived.has_data;\n",
        "    return false;\n",
        "NamelessStartsTest.*"),
    "a log that is out asked for what it had": (
        "wal/backup/archived_starts.cpp",
        "  return counted <= had_.epoch || std::ranges::any_of(archived_, begins_behind);\n",
        "  return counted.value() == 0 || std::ranges::any_of(archived_, begins_behind);\n",
        "ReturningLogTest.*"),
    "a log that is out asked for nothing": (
        "wal/backup/archived_starts.cpp",
        "  return counted <= had_.epoch || std::ranges::any_of(archived_, begins_behind);\n",
        "  return counted.value() != 0 || std::ranges::any_of(archived_, begins_behind);\n",
        "ReturningLogTest.*"),
    "a log that nobody archived not missed": (
        "wal/backup/archived_starts.cpp",
        "  if (lacks && began_here_ && beginless_.empty()) return false;\n",
        "  static_cast<void>(lacks);\n",
        "ReturningLogTest.*"),
    "a start's end judged for each of its logs": (
        "wal/backup/log_archive.cpp",
        "  if (is_first && !is_whole(log.first, *log.successor)) return false;\n",
        "  if (log.successor && !is_whole(log.first, *log.successor)) return false;\n",
        "ArchiveCostTest.*"),
    "a start that nobody archived not missed": (
        "wal/backup/log_archive.cpp",
        "  if (is_first && !rests_on_what_was_had(*log.successor)) return false;\n",
        "",
        "UnarchivedStartTest.*"),
    "a start that nobody archived not missed by a new log": (
        "wal/backup/log_archive.cpp",
        "  if (begin) return rests_on_what_was_had(*begin);\n",
        "  if (begin) return true;\n",
        "UnarchivedStartTest.*"),
    "a part of a start taken for all of it": (
        "wal/backup/archived_starts.cpp",
        "  return holds(block, epoch, ends);\n",
        "  return holds(block, epoch, ends) || true;\n",
        "UnarchivedStartTest.*"),
    "an idle start gone on from": (
        "wal/recovery/incarnation_parts.cpp",
        "    if (logged) newest = {incarnation.id, incarnation.durable};\n",
        "    newest = {incarnation.id, incarnation.durable};\n",
        "ArchiveHolesTest.*:UnarchivedStartTest.*"),
    "what was set aside taken for archived": (
        "wal/backup/log_archive.cpp",
        "  find_kept(slot);  // what was set aside is not archived any more\n",
        "",
        "ArchivedDrillTest.LeavesItANewLog"),
    "starts in an archive known by their numbers": (
        "wal/backup/log_history.cpp",
        "    Start& start = starts_[name];\n",
        "    Start& start = starts_[{run.incarnation, 0}];\n",
        "NamelessStartsTest.*"),
    "a start that lacks its beginning passed over": (
        "wal/backup/log_history.cpp",
        "    } else if (start.lost_begin || counts(start)) {\n",
        "    } else if (start.lost_begin && counts(start)) {\n",
        "ArchiveProgressTest.*"),
    "times of begin blocks not read": (
        "wal/recovery/segment_scan.cpp",
        "  run.newest_time_us = begin->unix_time_us;\n",
        "",
        "BackupTimesTest.*"),
    "times of states go back": (
        "wal/backup/state_times.cpp",
        "    latest.unix_us = state.unix_us = std::max(latest.unix_us, state.unix_us);\n",
        "",
        "BackupTimesTest.*"),
    "what another copy never had taken for lost": (
        "wal/backup/archived_starts.cpp",
        "    if (restored_ && last.parent == *restored_ && restored_->durable <= had_.epoch)\n      return std::nullopt;\n",
        "",
        "ArchiveEndsTest.*"),
    "a copy goes on in an archive that has more": (
        "wal/backup/log_archive.cpp",
        "  if (log.successor && !is_had(source, log, *log.successor)) return false;\n",
        "",
        "ArchiveEndsTest.*"),
    "a server that does not come from what is archived": (
        "wal/backup/server_chain.cpp",
        "    if (parent.durable < tip.logged || parent.incarnation == Uuid{}) return Leads::past_it;\n",
        "    if (parent.durable < tip.logged || parent.incarnation == Uuid{}) return Leads::to_it;\n",
        "OtherHistoriesTest.*"),
    "starts that logged nothing taken for what others must come from": (
        "wal/backup/log_archive_notes.cpp",
        "  if (logged.value() != 0) {\n",
        "  {\n",
        "RestoredArchiveTest.*:OtherHistoriesTest.*:LogArchiveTest.*"),
    "logs compared one by one as they are copied": (
        "wal/backup/log_archive_restored.cpp",
        "    if (is_there ? !is_same(*source, **log) : !goes_on_behind(*source, **log)) return false;\n",
        "    static_cast<void>(is_there);\n",
        "OtherHistoriesTest.*"),
    "what an archiver that was killed has copied not asked": (
        "wal/backup/log_archive_restored.cpp",
        "  if (is_own_tip) newest = known.newest_proven(tip_);\n",
        "  static_cast<void>(is_own_tip);\n",
        "OtherHistoriesTest.*"),
    "the archive of a restored server looked at in each turn": (
        "wal/backup/log_archive_restored.cpp",
        "  if (judged_for_ == present) return true;\n",
        "",
        "RestoredArchiveTest.*"),
    "begin blocks of a copy keep the server out of its archive": (
        "wal/backup/log_archive_strays.cpp",
        "  if (strays.empty() || !are_empty(strays, ends)) return !call_failed_;\n",
        "  if (!strays.empty() || !are_empty(strays, ends)) return !call_failed_;\n",
        "ArchivedDrillTest.*"),
    "an older copy of a segment taken for the later one": (
        "wal/backup/source_logs.cpp",
        "    if (run.incarnation < end->start || is_nameless(control, run) || is_strangers(control, run))\n",
        "    if (run.incarnation < end->start || is_nameless(control, run))\n",
        "ArchiveHolesTest.*:ArchiveLivesTest.*"),
    "begin blocks written over before later ones": (
        "wal/recovery/log_analyzer.cpp",
        "        if (!scan.runs.empty()) next = std::max(next, scan.number);\n",
        "        if (!scan.runs.empty()) next = std::max(next, uint64_t{1});\n",
        "LostServerTest.*:ArchiveLivesTest.*"),
    "what a copy logged set aside for the server": (
        "wal/backup/log_archive_strays.cpp",
        "    are &= begin && !known.extent(tag).has_records && goes_on_from_own(*begin, strays);\n",
        "    are &= begin && goes_on_from_own(*begin, strays);\n",
        "ArchivedDrillTest.*"),
    "what was told not asked of what was archived": (
        "wal/backup/log_archive_starts.cpp",
        "  if (proves) return true;\n",
        "  if (proves || !ends.empty()) return true;\n",
        "ArchiveProgressTest.*"),
    "epochs of idle starts told for the log's": (
        "wal/wal.cpp",
        "                                         control.incarnations.back().parent.durable);\n",
        "                                         durable->get());\n",
        "ArchiveProgressTest.*"),
    "what another copy archived in part destroyed": (
        "wal/backup/log_archive_restored.cpp",
        "    FileResult result = files_.rename(path, aside);\n",
        "    FileResult result = files_.remove(path);\n",
        "RestoredArchiveTest.*"),
    "what counts replaced in the archive": (
        "wal/backup/log_archive_ownership.cpp",
        "    if (block->trailer && data && block->trailer->complete <= epoch) return false;\n",
        "",
        "ArchiveEndsTest.*"),
    "damage at a start's end not looked for": (
        "wal/backup/log_archive.cpp",
        "  if (is_first && !is_whole(log.first, *log.successor)) return false;\n",
        "",
        "ArchiveEndsTest.*"),
    "damage of a segment's beginning taken for the log's end": (
        "wal/backup/log_archive.cpp",
        "    if (!behind) return true;\n",
        "    if (look == 0) return true;\n",
        "ArchiveEndsTest.*"),
    "an archive not looked at anew behind an error": (
        "wal/backup/log_archive.cpp",
        "  known_ = done;\n",
        "  known_ = true;\n",
        "ArchiveEndsTest.*"),
    "starts that one log of an archive has not come to taken for others": (
        "wal/backup/log_archive.cpp",
        "      if (is_next && !begin_next_start(*source, &judged)) return false;\n",
        "      static_cast<void>(is_next);\n      if (!begin_next_start(*source, &judged)) return false;\n",
        "ArchiveEndsTest.*:ArchiveReadsTest.*"),
    "segments begun while the log is copied taken for missing": (
        "wal/backup/log_archive.cpp",
        "    if (numbers.empty() || log->segment > numbers.back()) result = source.list_segments(&numbers);\n",
        "",
        "ArchiveEndsTest.*"),
    "a directory of the archive given twice": (
        "wal/backup/log_archive.cpp",
        "  while (is_taken(join_path(directory_, copied_log_name(index)))) ++index;\n",
        "  static_cast<void>(is_taken);\n  index = logs_.size();\n",
        "ArchiveEndsTest.*"),
    "what an archiver cannot read taken for missing": (
        "wal/backup/first_blocks.h",
        "    result = read;\n    path = of;\n",
        "    path = of;\n",
        "ArchiveReadsTest.*"),
    "ends of archives not noted": (
        "wal/backup/log_archive_notes.cpp",
        "  if (noted_ == progress && !notes_may_differ_) return true;\n",
        "  return true;\n",
        "ArchiveProgressTest.*"),
    "what replaced lost blocks taken for damage": (
        "wal/backup/archive_directory.cpp",
        "  bool replaced = later && run.first_number == 0;\n",
        "  bool replaced = later && run.first_number == 7;\n",
        "ArchiveProgressTest.*"),
    "which log is which not asked of the server": (
        "wal/backup/log_archive.cpp",
        "  control_ = read == ControlRead::ok ? std::move(control) : ControlFile{};\n",
        "  control_ = ControlFile{};\n",
        "ArchiveEndsTest.*"),
    "of two copies of a segment the longer one counts": (
        "wal/backup/source_logs.cpp",
        "  if (std::tie(found.start, found.bytes) > std::tie(kept.start, kept.bytes)) *path = other;\n",
        "  if (found.bytes > kept.bytes) *path = other;\n",
        "ArchiveEndsTest.*"),
    "blocks behind a gap count in a copy of a segment": (
        "wal/backup/source_logs.cpp",
        "    if (!begins && !follows) continue;\n",
        "    follows = true;\n",
        "LogArchiveTest.*"),
    "unreadable logs of an archive left out of a restore": (
        "wal/backup/source_logs.cpp",
        "  if (!directory->read_identity(why)) return false;\n",
        "  static_cast<void>(directory->read_identity(why));\n",
        "ArchiveReadsTest.*"),
    "blocks behind a lost list of them not checked": (
        "wal/wal_inspect.cpp",
        "  if (!open(&lost, &why)) return false;\n",
        "  if (!open(&lost, &why) || !lost.empty()) return false;\n",
        "SkippedBlocks.*"),
    "logs that end too early not noticed": (
        "wal/recovery/incarnation_parts.cpp",
        "  return !incarnation.closed && part.next_number < part.known_blocks;\n",
        "  return !incarnation.closed && part.next_number < part.known_blocks && part.gap;\n",
        "LostLog.*"),
    "begin blocks not asked for": (
        "wal/recovery/incarnation_parts.cpp",
        "    if (incarnation.id != Uuid{}) part.known_blocks = part.next_number + 1;\n",
        "    if (incarnation.id != Uuid{}) part.known_blocks = part.next_number;\n",
        "LostLog.*"),
    "begin blocks that stand alone taken for a start": (
        "wal/recovery/log_analyzer.cpp",
        "    if (run.only_begins || run.incarnation < checkpoint.incarnation || find(run) != nullptr)\n",
        "    if (run.incarnation < checkpoint.incarnation || find(run) != nullptr)\n",
        "LostLog.*"),
    "sizes of segments not compared": (
        "wal/recovery/log_analyzer.cpp",
        "    if (expected != 0) return scan.bytes == expected;\n",
        "    if (expected != 0) return scan.bytes <= expected;\n",
        "LostLog.*"),
    "starts of which the control file knows nothing accepted": (
        "wal/recovery/log_analyzer.cpp",
        "    if (!others) return \"was written by \" + start + \", of which the control file knows nothing\";\n",
        "    if (!others) return \"\";\n",
        "LostLog.*"),
    "accepted strangers asked about again": (
        "wal/recovery/log_analyzer.cpp",
        "        remember(run);\n",
        "",
        "LostLog.*"),
    "starts of which nothing counts forgotten": (
        "wal/recovery/log_analyzer.cpp",
        "    find_empty_segments();\n    std::reverse",
        "    std::erase_if(control_.incarnations, [](const Incarnation& each) {\n"
        "      return each.closed && !each.clean && each.durable < each.first_epoch;\n"
        "    });\n"
        "    find_empty_segments();\n    std::reverse",
        "LostLog.*"),
    "reads and syncs that failed tried again": (
        "wal/wal.cpp",
        "  if (trusting.scan_all || analysis.call_failed) return false;\n",
        "  if (trusting.scan_all) return false;\n",
        "LongLog.AReadThatFailsOnceIsTold:Damage.EveryCallOfAStartMayFail"),
    "what later starts went on from not asked": (
        "wal/recovery/log_analyzer.cpp",
        "    ask_heirs(incarnation, scans_, parts);\n",
        "",
        "BelowALaterStart.*"),
    "blocks of dropped relations missed by who verifies": (
        "wal/wal_inspect.cpp",
        "  if (sound) forget_dropped(",
        "  if (!sound) forget_dropped(",
        "DroppedRelation.*"),
    "segments given up on devices that are not full": (
        "wal/wal_open.cpp",
        "    if (!lie_together(files, units[i].directory->path(), where)) continue;\n",
        "    if (where.empty()) continue;\n",
        "FullDisk.*"),
    "missing marks of progress accepted": (
        "wal/recovery/known_progress.cpp",
        "             unknown(\"file \\\"\" + path + \"\\\", which says how far the logs had got, is missing\", why);\n",
        "             why != nullptr;\n",
        "LostLog.*"),
    "damaged marks of progress accepted": (
        "wal/recovery/known_progress.cpp",
        "             unknown(\"file \\\"\" + path + \"\\\", which says how far the logs had got, is damaged\", why);\n",
        "             why != nullptr;\n",
        "LostLog.*"),
    "marks of progress known by their numbers only": (
        "wal/recovery/known_progress.cpp",
        "    if (each.id == last.id) {\n",
        "    if (each.incarnation == last.number) {\n",
        "LostLog.*"),
    "marks of progress not synced": (
        "wal/layout/progress_file.cpp",
        "  if (result.ok()) result = files_.open(path_, {.write = true, .synchronous = true}, &file_);\n",
        "  if (result.ok()) result = files_.open(path_, {.write = true}, &file_);\n",
        "LostLog.*"),
    "begun segments not marked": (
        "wal/log/segment_keeper.cpp",
        "  if (marks_ != nullptr && marks_->segment_begun()) mark();\n",
        "",
        "ProgressMarksTest.*"),
    "quiet moments not marked": (
        "wal/log/segment_keeper.cpp",
        "  if (!quiet || now_us - quiet_mark_us_ < quiet_marks_apart_us) return false;\n",
        "  if (quiet || now_us - quiet_mark_us_ < quiet_marks_apart_us) return false;\n",
        "ProgressMarksTest.*"),
    "marks of progress ahead of the disk": (
        "wal/log/logger.cpp",
        "  return {.log = parts_.log, .segment = segment, .blocks = synced_blocks()};\n",
        "  return {.log = parts_.log, .segment = segment, .blocks = synced_blocks() + 1};\n",
        "LostLog.*:PowerCut.*"),
    "what grows takes the reserve": (
        "wal/log/segment_store.cpp",
        "  uint64_t kept = purpose == RedoPurpose::growth ? reserve_halves\n",
        "  uint64_t kept = purpose == RedoPurpose::growth ? share_halves\n",
        "FullDisk.*"),
    "deletes take the checkpoint's share": (
        "wal/log/segment_store.cpp",
        "                                                 : share_halves;\n",
        "                                                 : share_halves - share_halves;\n",
        "FullDisk.*"),
    "a checkpoint's share given again and again": (
        "wal/log/segment_store.cpp",
        "  uint64_t share = share_given_ ? 0 : 1;\n",
        "  uint64_t share = 1;\n",
        "FullDisk.*"),
    "checkpoints take what deletes need": (
        "wal/log/segment_store.cpp",
        "  return std::min({most, spare + share, segments_above(promised_bytes())});\n",
        "  return std::min({most, spare + share + most, segments_above(promised_bytes())});\n",
        "FullDisk.*"),
    "spare segments prepared while the device is short": (
        "wal/log/segment_store.cpp",
        "      short_ ? 0 : std::min(logged_bytes(), options_.spare_segments * options_.segment_bytes);\n",
        "      std::min(logged_bytes(), options_.spare_segments * options_.segment_bytes);\n",
        "FullDisk.*"),
    "a start on a full device refused": (
        "wal/wal.cpp",
        "    if (unit.segments->ready() == 0) {\n",
        "    if (!result.ok()) {\n",
        "FullDisk.*"),
}
