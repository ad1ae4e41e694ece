//! `drystone view`: a scene that plays in the browser.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use drystone::Strategy;
use drystone_view::live::{Change, Options, Viewer};

use super::print;
use crate::cli::ViewArgs;
use crate::fault::Fault;
use crate::live::Scenes;
use crate::live::played::{is_recording, name_of};
use crate::plan::find;

/// Opens a scene or a recording in the browser and stays until it is stopped.
pub(crate) fn view(args: &ViewArgs) -> Result<(), Fault> {
    let path = PathBuf::from(&args.scene);
    let mut strategy = args.settings.strategy.clone();
    let (scenes, name, dt) = if is_recording(&path) {
        let name = name_of(&path);
        (Scenes::with_recording(path), name, None)
    } else {
        let scene = find(&args.scene, &args.settings.reading)?;
        // Said here, with the place in the file, and not by the page.
        scene.build().map_err(Fault::Scene)?;
        let name = scene.name.clone();
        let own = Strategy::named(scene.strategy_name()).unwrap_or_default();
        strategy = args.settings.strategy_for(&own).map(str::to_owned);
        let dt = usual_dt(strategy.as_deref(), scene.dt);
        (Scenes::with(scene), name, dt)
    };
    let options = Options {
        port: args.port,
        scene: name,
        playing: !args.paused,
        change: Change {
            dt: args.settings.dt.or(dt),
            strategy,
            solver: args.settings.solver.clone(),
            iterations: args.settings.iterations.map(std::num::NonZeroU32::get),
            tolerance: args.settings.tolerance,
            threads: args.settings.threads.map(std::num::NonZeroU32::get),
            ..Change::default()
        },
        log: Arc::new(|text| {
            // Where standard error is gone there is no one left to tell.
            let _ = writeln!(std::io::stderr(), "viewer: {text}");
        }),
    };
    let viewer = Viewer::start(Arc::new(scenes), options).map_err(Fault::View)?;
    let url = viewer.url();
    print(&format!("{url}\n"))?;
    if !args.no_open {
        open(&url);
    }
    print("Open this address in a browser on this machine; Ctrl+C ends the viewer.\n")?;
    viewer.wait();
    Ok(())
}

/// The length of a step that goes with the strategy that was asked for, where the scene says none.
fn usual_dt(asked: Option<&str>, of_scene: Option<f64>) -> Option<f64> {
    let asked = asked.and_then(Strategy::named);
    asked.filter(|_| of_scene.is_none()).map(|s| s.usual_dt())
}

/// Opens an address in the browser of the desktop, if there is one.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let browser = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    // Without a desktop the address above is all that is needed.
    drop(browser);
}
