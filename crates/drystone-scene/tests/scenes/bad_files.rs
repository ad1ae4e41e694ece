//! Files that are no scenes at all: refused before they can do harm.

use std::io::Write;
use std::path::PathBuf;

use drystone_scene::{MAX_FILE_BYTES, Scene};

/// A file in a folder of its own that goes away at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("drystone-scene-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::File::create(&path)
            .unwrap()
            .write_all(bytes)
            .unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_hundred_megabytes_are_refused_before_they_are_read() {
    let scratch = Scratch::new("large");
    let path = scratch.0.join("large.toml");
    // A file with a hole: 100 MB long without being written.
    std::fs::File::create(&path)
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    let started = std::time::Instant::now();
    let error = Scene::load(&path).unwrap_err();
    assert!(
        error.to_string().contains("100000000 bytes are too many"),
        "{error}"
    );
    assert!(started.elapsed().as_secs_f64() < 0.1, "it must not be read");
}

#[test]
fn text_beyond_the_limit_is_refused_too() {
    let text = "x".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() + 1);
    assert!(
        Scene::from_toml(&text, "")
            .unwrap_err()
            .to_string()
            .contains("too many")
    );
}

#[test]
fn garbage_is_refused_in_words() {
    let scratch = Scratch::new("garbage");
    let binary: Vec<u8> = (0..=255_u8).cycle().take(10_000).collect();
    let error = Scene::load(&scratch.file("garbage.toml", &binary)).unwrap_err();
    assert!(
        error.to_string().contains("byte 128 is not UTF-8"),
        "{error}"
    );
    let error = Scene::load(&scratch.file("garbage.json", &binary[..100])).unwrap_err();
    assert!(error.line_and_column().is_some(), "{error}");
    let error = Scene::load(&scratch.file("scene.yaml", b"a: 1")).unwrap_err();
    assert!(
        error.to_string().contains("must end in `.toml` or `.json`"),
        "{error}"
    );
    let error = Scene::load(&scratch.0.join("none.toml")).unwrap_err();
    assert!(error.to_string().contains("can't be read"), "{error}");
    let folder = scratch.0.join("folder.toml");
    std::fs::create_dir(&folder).unwrap();
    assert!(
        Scene::load(&folder)
            .unwrap_err()
            .to_string()
            .contains("a folder")
    );
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
    for depth in [100, 10_000, 1_000_000] {
        let lists = format!("dimension = 3\nbodies = {}", "[".repeat(depth));
        assert!(Scene::from_toml(&lists, "").is_err());
        let closed = format!("x = {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Scene::from_toml(&closed, "").is_err());
        let keys = format!("{}x = 1", "a.".repeat(depth));
        assert!(Scene::from_toml(&keys, "").is_err());
        assert!(Scene::from_json(&"[".repeat(depth), "").is_err());
        assert!(Scene::from_json(&"{\"a\":".repeat(depth), "").is_err());
        let compound = "{\"compound\":{\"parts\":[{\"shape\":".repeat(depth);
        let json = format!("{{\"dimension\":3,\"bodies\":[{{\"shape\":{compound}");
        assert!(Scene::from_json(&json, "").is_err());
    }
}

#[test]
fn compounds_as_deep_as_a_file_allows_can_be_built() {
    let depth = 15;
    let open = "{ compound = { parts = [{ shape = ".repeat(depth);
    let close = " }] } }".repeat(depth);
    let text =
        format!("dimension = 3\n[[bodies]]\nshape = {open}{{ ball = {{ radius = 1 }} }}{close}\n");
    Scene::from_toml(&text, "deep.toml")
        .unwrap()
        .build()
        .unwrap();
}

#[test]
fn a_toml_error_points_at_its_place() {
    let text = "dimension = 3\nseconds = = 4\n";
    let error = Scene::from_toml(text, "typo.toml").unwrap_err();
    assert_eq!(
        error.line_and_column().map(|(line, _)| line),
        Some(2),
        "{error}"
    );
}

#[test]
fn a_name_is_taken_from_the_file() {
    let scratch = Scratch::new("name");
    let path = scratch.file("my-tower.toml", b"dimension = 2");
    assert_eq!(Scene::load(&path).unwrap().name, "my-tower");
}
