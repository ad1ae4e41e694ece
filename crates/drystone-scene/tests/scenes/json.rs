//! JSON of the same schema, and the schema itself.

use drystone_scene::{Scene, gallery, json_schema};

#[test]
fn every_gallery_scene_survives_json_and_gives_the_same_world() {
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        let json = serde_json::to_string_pretty(&scene).unwrap();
        let again = Scene::from_json(&json, "again.json").unwrap();
        assert_eq!(
            Scene {
                source: None,
                ..again.clone()
            },
            Scene {
                source: None,
                ..scene.clone()
            },
            "{}",
            entry.name
        );
        assert_eq!(
            again.build().unwrap().state_hash(),
            scene.build().unwrap().state_hash(),
            "{}",
            entry.name
        );
    }
}

#[test]
fn every_gallery_scene_survives_toml() {
    for entry in gallery::entries() {
        let scene = entry.scene().unwrap();
        let text = toml::to_string(&scene).unwrap();
        let again = Scene::from_toml(&text, "again.toml").unwrap();
        assert_eq!(
            Scene {
                source: None,
                ..again
            },
            Scene {
                source: None,
                ..scene
            }
        );
    }
}

#[test]
fn errors_in_json_point_at_the_value() {
    let text = r#"{
  "dimension": 3,
  "bodies": [
    { "name": "ball", "shape": { "ball": { "radius": -1 } } }
  ]
}"#;
    let error = Scene::from_json(text, "a.json")
        .unwrap()
        .build()
        .unwrap_err();
    assert_eq!(&text[error.span().unwrap()], "-1");
    assert_eq!(error.line_and_column(), Some((4, 54)));
    assert_eq!(error.field(), Some("bodies[0].shape.ball.radius"));
    assert_eq!(error.object(), Some("body `ball`"));
}

#[test]
fn mistakes_in_json_point_at_their_line() {
    let unknown = "{\n \"dimension\": 3,\n \"gravty\": []\n}";
    let error = Scene::from_json(unknown, "a.json").unwrap_err();
    assert_eq!(
        error.line_and_column().map(|(line, _)| line),
        Some(3),
        "{error}"
    );
    assert!(
        error.to_string().contains("did you mean `gravity`?"),
        "{error}"
    );
    let syntax = Scene::from_json("{\n \"dimension\": 3,\n}", "a.json").unwrap_err();
    assert_eq!(
        syntax.line_and_column().map(|(line, _)| line),
        Some(3),
        "{syntax}"
    );
    let large = Scene::from_json("{\"dimension\": 3, \"dt\": 1e999}", "a.json").unwrap_err();
    assert!(large.to_string().contains("out of range"), "{large}");
}

#[test]
fn the_schema_names_every_field_and_says_what_it_is() {
    let schema = json_schema();
    let properties = schema["properties"].as_object().unwrap();
    let scene = serde_json::to_value(Scene::new("a", 3)).unwrap();
    for key in scene.as_object().unwrap().keys() {
        assert!(properties.contains_key(key), "{key}");
    }
    for (key, property) in properties {
        let described = property.get("description").is_some() || property.get("$ref").is_some();
        assert!(described, "{key}: {property}");
    }
    assert!(!properties.contains_key("source"));
    assert_eq!(schema["title"], "Drystone scene");
    assert!(schema["$defs"]["Shape"]["oneOf"].as_array().unwrap().len() >= 11);
}
