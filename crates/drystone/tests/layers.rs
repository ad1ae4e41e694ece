//! The order of the layers, held against the paths of every source file.
//!
//! The order is the one that `lib.rs` states. Comments and strings do not count, test code does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path to an item of the crate, segment by segment, without `crate`.
type ItemPath = Vec<String>;

/// Source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The module that a file is, from the crate's root.
fn module_of(root: &Path, file: &Path) -> ItemPath {
    let inside = file.strip_prefix(root).unwrap().with_extension("");
    let mut module: ItemPath = inside
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        module.pop();
    }
    module
}

/// Code without comments and without what is in strings.
fn stripped(code: &str) -> String {
    let mut out = String::new();
    for line in code.lines() {
        let mut rest = line;
        let mut in_string = false;
        while let Some(c) = rest.chars().next() {
            if !in_string && rest.starts_with("//") {
                break;
            }
            let is_escaped = in_string && c == '\\';
            if c == '"' {
                in_string = !in_string;
            } else if !in_string {
                out.push(c);
            }
            let taken = c.len_utf8() + usize::from(is_escaped && rest.len() > 1);
            rest = rest.get(taken..).unwrap_or("");
        }
        out.push('\n');
    }
    out
}

/// Names, `::`, braces and everything else, one by one.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = c.to_string();
            while let Some(&next) = chars.peek() {
                if !(next.is_alphanumeric() || next == '_') {
                    break;
                }
                word.push(next);
                chars.next();
            }
            tokens.push(word);
        } else if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

/// Reads a tree of paths that goes on after `prefix` at `at`, and gives where it ends.
fn read_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &ItemPath,
    out: &mut Vec<ItemPath>,
) -> usize {
    let mut path = prefix.clone();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|t| t != "}") {
                    at = read_tree(tokens, at, &path, out);
                    while tokens.get(at).is_some_and(|t| t != "," && t != "}") {
                        at += 1;
                    }
                    at += usize::from(tokens.get(at).is_some_and(|t| t == ","));
                }
                return at + 1;
            }
            Some("self") => at += 1,
            Some(name)
                if name == "*" || name.starts_with(|c: char| c.is_alphabetic() || c == '_') =>
            {
                path.push(name.to_owned());
                at += 1;
            }
            _ => {}
        }
        if tokens.get(at).is_some_and(|t| t == "::") {
            at += 1;
        } else {
            out.push(path);
            return at;
        }
    }
}

/// All paths that start with `crate` or `super` in a file that is `module`, from the crate's root.
/// A `super` in a module within the file counts as one more level, as deep as it is indented.
fn paths(code: &str, module: &ItemPath) -> Vec<ItemPath> {
    let mut found = Vec::new();
    let tokens = tokens(&stripped(code));
    let mut inner = 0_usize;
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => {
                let is_module = at >= 2 && tokens[at - 2] == "mod";
                inner += usize::from(is_module);
                open.push(is_module);
            }
            "}" => inner -= usize::from(open.pop().unwrap_or(false)),
            "crate" if tokens.get(at + 1).is_some_and(|t| t == "::") => {
                at = read_tree(&tokens, at + 2, &Vec::new(), &mut found);
                continue;
            }
            "super" if tokens.get(at + 1).is_some_and(|t| t == "::") => {
                let mut up = 0;
                while tokens[at] == "super" && tokens.get(at + 1).is_some_and(|t| t == "::") {
                    up += 1;
                    at += 2;
                }
                let up = usize::saturating_sub(up, inner);
                let kept = module[..module.len().saturating_sub(up)].to_vec();
                at = read_tree(&tokens, at, &kept, &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The names in the line of a text that has arrows.
fn order_in(text: &str) -> Vec<String> {
    let line = text
        .lines()
        .find(|line| line.contains('←'))
        .expect("an order with ←");
    line.trim_start_matches("//!")
        .split('←')
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect()
}

struct Crate {
    order: Vec<String>,
    /// Modules and the paths in them.
    files: Vec<(ItemPath, Vec<ItemPath>)>,
}

fn engine() -> Crate {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: &PathBuf| {
        let module = module_of(&root, file);
        let paths = paths(&fs::read_to_string(file).unwrap(), &module);
        (module, paths)
    };
    Crate {
        order: order_in(&fs::read_to_string(root.join("lib.rs")).unwrap()),
        files: sources(&root).iter().map(read).collect(),
    }
}

#[test]
fn every_module_stands_in_the_stated_order() {
    let Crate { order, files } = engine();
    for (module, _) in files.iter().filter(|(module, _)| !module.is_empty()) {
        assert!(
            order.contains(&module[0]),
            "lib.rs does not name `{}`",
            module[0]
        );
    }
    assert!(files.len() > 200 && order.len() >= 10);
}

#[test]
fn no_layer_uses_a_later_one() {
    let Crate { order, files } = engine();
    let place = |name: &String| order.iter().position(|layer| layer == name);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (module, paths) in &files {
        let Some(own) = module.first().and_then(place) else {
            continue;
        };
        for path in paths {
            seen += 1;
            // What the root re-exports belongs to some layer, but a reader can't see to which.
            let is_root = path.first().is_none_or(|first| place(first).is_none());
            let is_later = path.first().and_then(place).is_some_and(|used| used > own);
            let is_test_of_world = is_root && module[0] == "world";
            if is_later || (is_root && !is_test_of_world) {
                wrong.push(format!("{} uses {}", module.join("::"), path.join("::")));
            }
        }
    }
    assert!(seen > 1000, "only {seen} paths were seen");
    assert!(
        wrong.is_empty(),
        "against the order of lib.rs:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn modules_of_a_layer_form_no_cycle() {
    let mut uses: BTreeMap<ItemPath, BTreeSet<ItemPath>> = BTreeMap::new();
    for (module, paths) in engine()
        .files
        .iter()
        .filter(|(module, _)| module.len() >= 2)
    {
        let own = module[..2].to_vec();
        let known = uses.entry(own.clone()).or_default();
        for path in paths
            .iter()
            .filter(|path| path.len() >= 2 && path[..2] != own[..])
        {
            known.insert(path[..2].to_vec());
        }
    }
    // What uses nothing that is left is in no cycle, nor is what nothing left uses.
    loop {
        let before = uses.len();
        let left: BTreeSet<ItemPath> = uses.keys().cloned().collect();
        uses.retain(|_, used| used.iter().any(|name| left.contains(name)));
        let used: BTreeSet<ItemPath> = uses.values().flatten().cloned().collect();
        uses.retain(|name, _| used.contains(name));
        if uses.len() == before {
            break;
        }
    }
    let names: Vec<String> = uses.keys().map(|name| name.join("::")).collect();
    assert!(names.is_empty(), "cycles among {names:?}");
}

#[test]
fn strategies_know_none_of_each_other() {
    let Crate { files, .. } = engine();
    let is_shared = |name: &str| matches!(name, "profile" | "step");
    for (module, paths) in files
        .iter()
        .filter(|(m, _)| m.len() >= 2 && m[0] == "strategy")
    {
        if is_shared(&module[1]) || module[1] == "settings" {
            continue;
        }
        for path in paths
            .iter()
            .filter(|path| path.len() >= 2 && path[0] == "strategy")
        {
            let is_fine = path[1] == module[1] || is_shared(&path[1]);
            assert!(is_fine, "{} uses {}", module.join("::"), path.join("::"));
        }
    }
}

#[test]
fn no_crate_depends_on_a_later_one() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let order = [
        "drystone-frame",
        "drystone",
        "drystone-scene",
        "drystone-view",
        "drystone-cli",
    ];
    for (place, name) in order.iter().enumerate() {
        let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        let (_, dependencies) = manifest.split_once("\n[dependencies]").unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        for later in &order[place..] {
            let is_named = |line: &str| {
                let end = line.find([' ', '.', '=']).unwrap_or(line.len());
                &line[..end] == *later
            };
            assert!(
                !dependencies.lines().any(is_named),
                "`{name}` depends on `{later}`"
            );
        }
    }
}

#[test]
fn the_reader_of_paths_sees_trees_and_levels() {
    let code = "use crate::a::{b, c::{d as e, self}};\n// crate::no::no\n\
                fn f() { super::g::h(\"crate::no\"); }\nmod tests { use super::*; use super::super::x; }";
    let own = vec!["m".to_owned(), "n".to_owned()];
    let found: Vec<String> = paths(code, &own).iter().map(|p| p.join("::")).collect();
    assert_eq!(
        found,
        ["a::b", "a::c::d", "a::c", "m::g::h", "m::n::*", "m::x"]
    );
}
