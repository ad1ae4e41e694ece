//! Vertex caches: where the points of one mesh are at each frame, and nothing else. The mesh
//! itself is a file beside ([`super::obj::single`]); points are in its order.
//!
//! PC2 (`.pc2`), all little-endian: `POINTCACHE2\0`, version 1 (i32), number of points (i32), first
//! frame (f32), frames from one sample to the next (f32), number of samples (i32); then for each
//! sample x, y, z of each point (f32).
//!
//! MDD (`.mdd`), all big-endian: number of samples (i32), number of points (i32), time of each
//! sample in s (f32); then x, y, z of each point (f32) for each sample.
//!
//! Blender's modifier Mesh Cache reads both. Our y is up: its "up axis" is then Y, its "forward
//! axis" −Z.

use std::io::{self, Write};

use super::motion::Deforming;

fn count(length: usize) -> io::Result<i32> {
    i32::try_from(length)
        .map_err(|_| io::Error::other("a vertex cache has at most 2,147,483,647 points or samples"))
}

fn points(deforming: &Deforming) -> usize {
    deforming.frames.first().map_or(0, Vec::len)
}

/// Writes a cache in the format PC2: one sample a frame, from frame 0.
///
/// # Errors
///
/// What the system says, or more points than the format counts.
pub fn pc2(deforming: &Deforming, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"POINTCACHE2\0")?;
    out.write_all(&1_i32.to_le_bytes())?;
    out.write_all(&count(points(deforming))?.to_le_bytes())?;
    out.write_all(&0_f32.to_le_bytes())?;
    out.write_all(&1_f32.to_le_bytes())?;
    out.write_all(&count(deforming.frames.len())?.to_le_bytes())?;
    for x in deforming.frames.iter().flat_map(|f| f.as_flattened()) {
        out.write_all(&x.to_le_bytes())?;
    }
    Ok(())
}

/// Writes a cache in the format MDD, with the time of each frame in s.
///
/// # Errors
///
/// What the system says, or more points than the format counts.
pub fn mdd(deforming: &Deforming, times: &[f64], out: &mut impl Write) -> io::Result<()> {
    out.write_all(&count(deforming.frames.len())?.to_be_bytes())?;
    out.write_all(&count(points(deforming))?.to_be_bytes())?;
    for (k, _) in deforming.frames.iter().enumerate() {
        let time = times.get(k).copied().unwrap_or_default();
        out.write_all(&(time as f32).to_be_bytes())?;
    }
    for x in deforming.frames.iter().flat_map(|f| f.as_flattened()) {
        out.write_all(&x.to_be_bytes())?;
    }
    Ok(())
}
