//! Every scene of the gallery can be built and stepped.

use drystone_scene::gallery;

#[test]
fn there_are_at_least_25_scenes_and_each_says_what_to_look_at() {
    assert!(gallery::entries().len() >= 25);
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        assert_eq!(scene.name, entry.name);
        assert!(
            !scene.look.is_empty() && !scene.look.contains('\n'),
            "{}",
            entry.name
        );
        assert!(scene.seconds > 0.0);
        assert_eq!(gallery::find(entry.name), Some(entry));
    }
    assert!(gallery::find(gallery::DEFAULT).is_some());
    assert!(gallery::find("no such scene").is_none());
    assert_eq!(gallery::nearest("dominos"), Some("dominoes"));
}

#[test]
fn names_in_the_folder_and_in_the_gallery_are_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("gallery");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            file.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let mut names: Vec<&str> = gallery::entries().iter().map(|entry| entry.name).collect();
    files.sort_unstable();
    names.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn every_scene_starts_without_deep_overlap_and_makes_thirty_steps() {
    for entry in gallery::entries() {
        let (mut world, warnings) = entry.scene().unwrap().build_with_warnings().unwrap();
        assert!(warnings.is_empty(), "{}: {warnings:?}", entry.name);
        for _ in 0..30 {
            world
                .step()
                .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        }
        let frame = world.frame();
        let numbers = frame.positions.iter().chain(&frame.velocities).flatten();
        assert!(
            numbers
                .chain(frame.rotations.iter().flatten())
                .all(|x| x.is_finite())
        );
    }
}
