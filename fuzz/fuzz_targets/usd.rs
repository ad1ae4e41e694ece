#![no_main]

#[allow(dead_code)]
#[path = "../../crates/drystone-scene/tests/fuzzing/readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::usd(bytes));
