// What a backup and an archive of the log behind it are together: the starts of the server that
// the archive holds whole, in the order in which each went on from the one before, and the states
// that can be had. Thread safety: plain functions.
#pragma once

#include <string>

#include "wal/backup/backup_label.h"
#include "wal/backup/source_logs.h"

namespace pgsilo {

class FileSystem;

// Enters what came after the backup into its label, up to the last state that the logs prove, which
// `label->stop` is then. `logs` are scanned. `*loss`: what more there was, as far as the logs or
// the archive tell; empty: nothing. False: `why`; they are of another copy of the database.
bool extend_label(FileSystem& files, const SourceLogs& logs, BackupLabel* label, std::string* loss,
                  std::string* why);
// Takes out of the label what came after an epoch. Between the last epoch of a start that counts
// and the first of the next one the state is that of the former. `copied`: the number of the start
// that the backup was taken of.
void end_label_at(Epoch epoch, uint64_t copied, BackupLabel* label);

}  // namespace pgsilo
