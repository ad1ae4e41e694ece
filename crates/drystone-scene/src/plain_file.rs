//! Opening files that others name: only plain ones.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read it. What is no plain file is an error at once: a pipe would keep the
/// program waiting for what it is never given, and a device may have no end.
pub fn open_plain(path: &Path) -> io::Result<File> {
    check(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    // What the name stands for may have changed in between.
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let problem = match metadata.is_dir() {
        true => "this is a folder, not a file",
        false => "this is a pipe, a device or the like, not a plain file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}
