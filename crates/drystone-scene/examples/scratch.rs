fn main(){ let text = "dimension = 3\n[[bodies]]\nname = \"ball\"\nshape.ball.raduis = 1.0\n";
 let e = drystone_scene::Scene::from_toml(text, "a.toml").unwrap_err(); println!("{e:?} {:?} {:?}", e.span(), e.help());
 let text = "dimension = 3\n[[bodies]]\nname = \"ball\"\nshape = { ball = { raduis = 1.0, radius = 2 } }\n";
 let e = drystone_scene::Scene::from_toml(text, "a.toml").unwrap_err(); println!("{e:?} {:?} {:?}", e.span(), e.help());
}
