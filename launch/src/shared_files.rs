//! Files in `/dev/shm` of libfabric's provider `shm`: they have names there, which are the ranks'
//! addresses, and those of a rank that is killed stay.

use std::fs;
use std::path::Path;
use weft_wire::Rank;

/// Folder of the provider's files.
const FOLDER: &str = "/dev/shm";

/// Name of a rank's endpoint. It begins the names of all files that its provider makes for it.
pub fn endpoint_name(job: u32, rank: Rank) -> String {
    format!("{}{}", prefix(job), rank.0)
}

fn prefix(job: u32) -> String {
    format!("weft-{job:08x}-")
}

/// Removes the files of a job whose ranks have ended.
pub(crate) fn remove_files_of(job: u32) {
    remove_from(Path::new(FOLDER), job);
}

fn remove_from(folder: &Path, job: u32) {
    let prefix = prefix(job);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // Another may have been faster, and nobody else's can be meant.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests;
