//! Every whole scene in the documentation can be built and stepped.

use drystone_scene::Scene;

/// The blocks that start with a line of exactly this.
fn blocks<'a>(text: &'a str, fence: &str) -> Vec<&'a str> {
    let opening = format!("{fence}\n");
    let starts = text
        .match_indices(&opening)
        .map(|(at, _)| at + opening.len());
    let block = |start: usize| text[start..].split("\n```").next().unwrap();
    starts.map(block).collect()
}

#[test]
fn whole_scenes_in_the_documentation_work() {
    let text = include_str!("../../../../docs/scene.md");
    let scenes = blocks(text, "```toml scene");
    assert!(scenes.len() >= 10);
    for toml in scenes {
        let scene = Scene::from_toml(toml, "docs/scene.md").unwrap();
        let (mut world, warnings) = scene.build_with_warnings().unwrap();
        assert!(warnings.is_empty(), "{warnings:?}\n{toml}");
        for _ in 0..20 {
            world.step().unwrap();
        }
    }
}

/// Snippets show one line a way to write a field; each fits a body on its own.
#[test]
fn lines_of_snippets_in_the_documentation_are_understood() {
    let text = include_str!("../../../../docs/scene.md");
    for block in blocks(text, "```toml") {
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let body = format!("dimension = 3\n[[bodies]]\n{line}\n");
            assert!(Scene::from_toml(&body, "docs/scene.md").is_ok(), "{line}");
        }
    }
}
