//! Films as MP4: pictures go to ffmpeg, which encodes them.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::Encoder;
use crate::still::Image;

/// The encoder, if it is on the PATH.
#[must_use]
pub fn ffmpeg() -> Option<PathBuf> {
    let name = if cfg!(windows) {
        "ffmpeg.exe"
    } else {
        "ffmpeg"
    };
    let folders = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}

/// An MP4 that is being written.
#[derive(Debug)]
pub struct Mp4 {
    child: Child,
    input: Option<ChildStdin>,
}

impl Mp4 {
    /// Starts the encoder. A file that is there is replaced.
    ///
    /// # Errors
    ///
    /// If it can't be started.
    pub fn new(
        ffmpeg: &Path,
        to: &Path,
        (width, height): (u32, u32),
        per_second: f64,
    ) -> io::Result<Self> {
        let mut command = Command::new(ffmpeg);
        command.args(["-loglevel", "error", "-y"]);
        command.args(["-f", "rawvideo", "-pixel_format", "rgb24"]);
        command.args(["-video_size", &format!("{width}x{height}")]);
        command.args(["-framerate", &per_second.to_string(), "-i", "-", "-an"]);
        // Most players want even sides and colours at half the resolution.
        command.args([
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-pix_fmt",
            "yuv420p",
        ]);
        command.args(["-movflags", "+faststart", "-f", "mp4"]);
        command.arg(as_file(to).as_os_str());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// What the encoder said last, as an error.
    fn complaint(&mut self) -> io::Error {
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut said);
        }
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        io::Error::other(format!("ffmpeg: {}", last.unwrap_or("it ended early")))
    }
}

/// A path that no encoder takes for an option or an address.
fn as_file(path: &Path) -> PathBuf {
    let is_plain = path.is_absolute() || path.starts_with(OsStr::new("."));
    if is_plain {
        path.to_owned()
    } else {
        Path::new(".").join(path)
    }
}

impl Encoder for Mp4 {
    fn add(&mut self, image: &Image) -> io::Result<()> {
        let written = match &mut self.input {
            Some(input) => input.write_all(&image.rgb),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        written.map_err(|_| self.complaint())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        // The end of its input is the end of the film.
        self.input = None;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(self.complaint())
        }
    }
}

impl Drop for Mp4 {
    /// An encoder whose film is given up does not stay behind.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
