//! Recordings: what goes in comes out, and whatever ends a run costs at most a frame.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use common::{BODIES, Toy, caught_up, go_on, header, recording, stage};
use drystone_frame::recording::{
    BackgroundWriter, BlockKind, Damage, ReadError, Reader, Record, Scrubber, Storage, Writer,
    recover,
};
use drystone_frame::{Frame, FrameContact, FrameJoint};
use proptest::prelude::*;

fn records(bytes: &[u8]) -> (Vec<Record>, Option<ReadError>) {
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut good = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) => good.push(record),
            Err(error) => return (good, Some(error)),
        }
    }
    (good, None)
}

/// Frames of the toy.
fn expected() -> Vec<Record> {
    let mut toy = Toy::new();
    let header = header();
    let record = |number: u64| {
        while toy.frame().step < header.step_of(number) {
            toy.step();
        }
        toy.record(number)
    };
    (0..header.frames()).map(record).collect()
}

fn close(a: &FrameContact, b: &FrameContact) -> bool {
    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|i| (a[i] - b[i]).abs() <= 1e-4);
    (a.object_a, a.object_b) == (b.object_a, b.object_b)
        && near(a.position, b.position)
        && near(a.normal, b.normal)
        && near(a.impulse, b.impulse)
        && (a.separation - b.separation).abs() <= 1e-4 * b.separation.abs()
}

fn alike(a: &FrameJoint, b: &FrameJoint) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs();
    (0..3).all(|i| near(a.force[i], b.force[i]) && near(a.torque[i], b.torque[i]))
        && near(a.error_m, b.error_m)
        && near(a.error_rad, b.error_rad)
        && a.broken == b.broken
}

#[test]
fn frames_come_back_bit_by_bit_and_contacts_to_four_digits() {
    let bytes = recording();
    let reader = Reader::open(bytes.as_slice()).unwrap();
    assert_eq!((&reader.header, &reader.stage), (&header(), &stage()));
    let (found, error) = records(&bytes);
    assert!(error.is_none(), "{error:?}");
    let expected = expected();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(
            (found.number, found.certificate),
            (expected.number, expected.certificate)
        );
        let without = |frame: &Frame| Frame {
            contacts: Vec::new(),
            joints: Vec::new(),
            ..frame.clone()
        };
        assert_eq!(without(&found.frame), without(&expected.frame));
        assert_eq!(found.frame.joints.len(), expected.frame.joints.len());
        let joints = found.frame.joints.iter().zip(&expected.frame.joints);
        assert!(joints.into_iter().all(|(a, b)| alike(a, b)), "{found:?}");
        assert_eq!(found.frame.contacts.len(), expected.frame.contacts.len());
        let pairs = found.frame.contacts.iter().zip(&expected.frame.contacts);
        assert!(pairs.into_iter().all(|(a, b)| close(a, b)), "{found:?}");
    }
}

#[test]
fn contacts_that_bear_nothing_are_left_out() {
    let mut toy = Toy::new();
    for _ in 0..8 {
        toy.step();
    }
    let mut record = toy.record(0);
    assert_eq!(record.frame.contacts.len(), 3);
    record.frame.contacts[1].impulse = [0.0; 3];
    let mut file = Vec::new();
    let mut writer = Writer::create(&mut file, header(), &stage()).unwrap();
    writer.frame(&record).unwrap();
    let (found, _) = records(&file);
    let places = found[0].frame.contacts.iter();
    let places: Vec<f64> = places.map(|c| c.position[0].round()).collect();
    assert_eq!(places, [0.0, 2.0]);
}

#[test]
fn any_frame_is_found_in_any_order() {
    let (all, _) = records(&recording());
    for bytes in [recording(), recording()[..recording().len() - 100].to_vec()] {
        let mut scrubber = Scrubber::open(Cursor::new(bytes)).unwrap();
        let frames = scrubber.frames();
        assert!(frames >= header().frames() - 1);
        for number in [0, 5, 6, 3, 9, 1, 8, 9].into_iter().filter(|&n| n < frames) {
            let found = scrubber.frame(number).unwrap().unwrap();
            assert_eq!(found, all[number as usize]);
        }
        assert_eq!(scrubber.frame(frames).unwrap(), None);
    }
}

#[test]
fn damage_of_one_frame_spares_the_other_groups() {
    let mut bytes = recording();
    let (all, _) = records(&bytes);
    // Header, stage, frame 0, state, frames 1 to 3, frame 4, state, frame 5: that is block 9.
    let start = block_starts(&bytes)[9];
    bytes[start + 40] ^= 1;
    let mut scrubber = Scrubber::open(Cursor::new(bytes)).unwrap();
    for number in [3, 4, 8, 9] {
        assert_eq!(
            scrubber.frame(number).unwrap().unwrap(),
            all[number as usize]
        );
    }
    let Err(ReadError::Damaged(damage)) = scrubber.frame(6) else {
        panic!("frame 6 needs frame 5");
    };
    assert_eq!((damage.block, damage.offset), (9, start as u64));
    assert_eq!(damage.good_frames, 5);
}

#[test]
fn a_run_cut_at_any_byte_goes_on_to_the_same_file() {
    let whole = recording();
    let (all, _) = records(&whole);
    let mut least_frames = 0;
    for length in 0..=whole.len() {
        let Ok(recovered) = recover(&whole[..length]) else {
            // Only where not even the header is there.
            let (_, error) = records(&whole[..length]);
            assert!(error.is_some() && least_frames == 0);
            continue;
        };
        assert!(
            recovered.frames >= least_frames,
            "a longer file has more frames"
        );
        least_frames = recovered.frames;
        assert_eq!(recovered.is_finished, length == whole.len());
        let (good, _) = records(&whole[..length]);
        assert_eq!(good, all[..recovered.frames as usize]);
        if recovered.is_finished {
            continue;
        }
        let mut file = whole[..recovered.good_bytes as usize].to_vec();
        let toy = caught_up(&recovered);
        go_on(Writer::resume(&mut file, &recovered), toy).unwrap();
        assert!(file == whole, "cut at {length}");
    }
    assert_eq!(least_frames, header().frames());
}

/// A disk that takes so many bytes, or so many writes, and then no more.
struct Failing {
    file: Vec<u8>,
    bytes_left: usize,
    writes_left: usize,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.bytes_left);
        if self.writes_left == 0 || (count == 0 && !bytes.is_empty()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.writes_left -= 1;
        self.bytes_left -= count;
        self.file.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Storage for Failing {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records on a disk that fails, then, again and again, goes on on one that fails later.
fn record_with_failures(first: Failing, mut later: impl FnMut() -> Failing) -> Vec<u8> {
    let mut disk = first;
    let begun = Writer::create(&mut disk, header(), &stage());
    let _ = begun.and_then(|writer| go_on(writer, Toy::new()));
    loop {
        let Ok(recovered) = recover(disk.file.as_slice()) else {
            return recording();
        };
        if recovered.is_finished {
            return disk.file;
        }
        disk.file.truncate(recovered.good_bytes as usize);
        disk = Failing {
            file: disk.file,
            ..later()
        };
        let toy = caught_up(&recovered);
        let _ = go_on(Writer::resume(&mut disk, &recovered), toy);
    }
}

#[test]
fn a_failure_of_any_write_loses_nothing_and_changes_nothing() {
    let whole = recording();
    let disk = |bytes_left, writes_left| Failing {
        file: Vec::new(),
        bytes_left,
        writes_left,
    };
    for writes in 0..=18 {
        let found = record_with_failures(disk(usize::MAX, writes), || disk(usize::MAX, 2));
        assert!(found == whole, "{writes} writes");
    }
    // A disk that is full in the middle of a block, and again after a little more.
    for bytes in (0..whole.len()).step_by(97) {
        let found = record_with_failures(disk(bytes, usize::MAX), || disk(700, usize::MAX));
        assert!(found == whole, "{bytes} bytes");
    }
}

#[test]
fn a_thread_writes_the_same_bytes() {
    let file = Shared::default();
    let writer = Writer::create(file.clone(), header(), &stage()).unwrap();
    let mut background = BackgroundWriter::new(writer).unwrap();
    let mut toy = Toy::new();
    for number in 0..header().frames() {
        while toy.frame().step < header().step_of(number) {
            toy.step();
        }
        let state = background.wants_state().then(|| toy.snapshot());
        background.frame(toy.record(number), state).unwrap();
    }
    let length = background.into_writer().unwrap().finish().unwrap();
    assert_eq!(length, recording().len() as u64);
    assert!(*file.0.lock().unwrap() == recording());
}

/// A disk that knows how much of a file a power cut would leave.
#[derive(Default)]
struct Platter {
    file: Vec<u8>,
    safe: usize,
}

impl Write for Platter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Storage for Platter {
    fn sync(&mut self) -> io::Result<()> {
        // So slow that frames come faster.
        std::thread::sleep(std::time::Duration::from_millis(1));
        self.safe = self.file.len();
        Ok(())
    }
}

#[test]
fn a_power_cut_loses_no_frame_that_was_written_where_every_one_is_waited_for() {
    for frames in 1..6 {
        let mut disk = Platter::default();
        let writer = Writer::create(&mut disk, header(), &stage()).unwrap();
        let mut writer = writer.sync_every_frame(true);
        let mut toy = Toy::new();
        for number in 0..frames {
            while toy.frame().step < header().step_of(number) {
                toy.step();
            }
            writer.frame(&toy.record(number)).unwrap();
            if writer.state_due() {
                writer.state(&toy.snapshot()).unwrap();
            }
        }
        drop(writer);
        let left = records(&disk.file[..disk.safe]).0.len() as u64;
        assert_eq!(left, frames);
    }
}

/// A file that can be looked into while it is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Storage for Shared {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_thread_says_why_it_stopped() {
    let disk = Failing {
        file: Vec::new(),
        bytes_left: usize::MAX,
        writes_left: 2,
    };
    let writer = Writer::create(disk, header(), &stage()).unwrap();
    let mut background = BackgroundWriter::new(writer).unwrap();
    let toy = Toy::new();
    let mut results = (0..4).map(|number| {
        let state = background.wants_state().then(|| toy.snapshot());
        background.frame(toy.record(number), state)
    });
    let error = results.find_map(Result::err).unwrap();
    assert!(error.to_string().contains("storage"), "{error}");
}

#[test]
fn frames_out_of_order_are_refused() {
    let mut writer = Writer::create(Vec::new(), header(), &stage()).unwrap();
    let toy = Toy::new();
    assert!(writer.state(b"").is_err());
    assert!(writer.frame(&toy.record(1)).is_err());
    writer.frame(&toy.record(0)).unwrap();
    let error = writer.frame(&toy.record(1)).unwrap_err();
    assert!(
        error.to_string().contains("the state comes before"),
        "{error}"
    );
    writer.state(&toy.snapshot()).unwrap();
    writer.frame(&toy.record(1)).unwrap();
}

#[test]
fn what_would_not_read_back_is_refused() {
    let mut bad = stage();
    bad.objects[0].parts[0].position[0] = f64::NAN;
    let error = Writer::create(Vec::new(), header(), &bad).unwrap_err();
    assert!(error.to_string().contains("stage"), "{error}");
    let mut bad = header();
    bad.group = 0;
    assert!(Writer::create(Vec::new(), bad, &stage()).is_err());
}

#[test]
fn other_files_and_later_versions_are_told_apart() {
    for other in [&b""[..], b"PNG", b"solid mesh\nfacet normal 0 0 1\n"] {
        assert!(matches!(Reader::open(other), Err(ReadError::NotARecording)));
    }
    let mut later = recording();
    later[8] = 3;
    assert!(matches!(
        Reader::open(later.as_slice()),
        Err(ReadError::Version(3))
    ));
}

#[test]
fn what_version_1_did_not_have_is_empty() {
    // Such a file differs in its version, and in arrays that are not there.
    let toy = Toy::new();
    let plain = Record {
        frame: Frame {
            islands: Vec::new(),
            asleep: Vec::new(),
            joints: Vec::new(),
            ..toy.frame()
        },
        ..Record::default()
    };
    let mut file = Vec::new();
    let mut writer = Writer::create(&mut file, header(), &stage()).unwrap();
    writer.frame(&plain).unwrap();
    writer.state(b"").unwrap();
    writer.finish().unwrap();
    file[8] = 1;
    let reader = Reader::open(file.as_slice()).unwrap();
    assert_eq!(reader.version, 1);
    let (found, error) = records(&file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found[0].frame, plain.frame);
}

#[test]
fn a_flipped_byte_is_named_and_every_frame_before_it_is_good() {
    let whole = recording();
    let (all, _) = records(&whole);
    let starts = block_starts(&whole);
    for at in 16..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let (good, error) = records(&bytes);
        assert_eq!(good, all[..good.len()]);
        let block = starts.iter().rposition(|&start| start <= at).unwrap();
        let Some(ReadError::Damaged(Damage {
            block: named,
            offset,
            good_frames,
            ..
        })) = error
        else {
            panic!("byte {at} of block {block} can be flipped: {error:?}");
        };
        assert_eq!((named, offset), (block as u64, starts[block] as u64));
        assert_eq!(good_frames, good.len() as u64);
        // One more frame only where its block lies before the flipped byte.
        let before = starts[..block]
            .iter()
            .filter(|&&s| whole[s + 4..s + 8] == BlockKind::Frame.code());
        assert_eq!(good.len(), before.count());
    }
}

/// Where blocks begin, read from their lengths alone.
fn block_starts(whole: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 16;
    while at < whole.len() {
        starts.push(at);
        let length = u64::from_le_bytes(whole[at + 16..at + 24].try_into().unwrap());
        at += 32 + length as usize;
    }
    starts
}

proptest! {
    #[test]
    fn no_change_of_bytes_makes_anything_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        mend: bool,
    ) {
        let mut bytes = recording();
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        if mend {
            // Sound checksums over what was changed, so that the insides are reached.
            mend_checksums(&mut bytes);
        } else {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = records(&bytes);
        let _ = recover(bytes.as_slice());
        if let Ok(mut scrubber) = Scrubber::open(Cursor::new(bytes)) {
            for number in 0..scrubber.frames().min(20) {
                let _ = scrubber.frame(number);
            }
        }
    }

    #[test]
    fn frames_of_any_numbers_come_back(
        frames in prop::collection::vec(any_frame(), 1..6),
        group in 1_u32..4,
    ) {
        let mut file = Vec::new();
        let header = drystone_frame::recording::Header { group, steps: 5, ..header() };
        let mut writer = Writer::create(&mut file, header, &stage()).unwrap();
        for (number, frame) in (0..).zip(&frames) {
            let record = Record { number, frame: frame.clone(), certificate: None };
            writer.frame(&record).unwrap();
            if writer.state_due() {
                writer.state(b"state").unwrap();
            }
        }
        writer.finish().unwrap();
        let (found, error) = records(&file);
        prop_assert!(error.is_none(), "{:?}", error);
        for (found, frame) in found.iter().zip(&frames) {
            // Compared by bits: what is no number differs from itself.
            prop_assert_eq!(bits(&found.frame), bits(frame));
        }
        prop_assert_eq!(found.len(), frames.len());
    }
}

fn mend_checksums(bytes: &mut [u8]) {
    let mut at = 16;
    while at + 32 <= bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 16..at + 24].try_into().unwrap()) as usize;
        let Some(end) = (at + 32)
            .checked_add(length)
            .filter(|&end| end <= bytes.len())
        else {
            return;
        };
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes[at..at + 12]);
        sum.update(&bytes[at + 16..end]);
        bytes[at + 12..at + 16].copy_from_slice(&sum.finalize().to_le_bytes());
        at = end;
    }
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let three = prop::array::uniform3(any::<f64>());
    let four = prop::array::uniform4(any::<f64>());
    let many = 0..2 * BODIES;
    (
        any::<f64>(),
        prop::collection::vec(three, many.clone()),
        prop::collection::vec(four, many.clone()),
        prop::collection::vec(three, many.clone()),
        prop::collection::vec(three, many),
    )
        .prop_map(|(time, positions, rotations, velocities, spins)| Frame {
            time,
            step: 3,
            positions,
            rotations,
            velocities,
            spins,
            ..Frame::default()
        })
}

fn bits(frame: &Frame) -> Vec<u64> {
    let mut bits = vec![frame.time.to_bits()];
    let vectors = [&frame.positions, &frame.velocities, &frame.spins];
    for vector in vectors {
        bits.push(vector.len() as u64);
        bits.extend(vector.as_flattened().iter().map(|x| x.to_bits()));
    }
    bits.extend(frame.rotations.as_flattened().iter().map(|x| x.to_bits()));
    bits
}
