//! `drystone view`: a scene that plays in the browser.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use drystone_view::live::{Change, Options, Viewer};

use super::print;
use crate::cli::ViewArgs;
use crate::fault::Fault;
use crate::live::Scenes;
use crate::plan::find;

/// Opens a scene in the browser and stays until it is stopped.
pub(crate) fn view(args: &ViewArgs) -> Result<(), Fault> {
    let scene = find(&args.scene)?;
    // Said here, with the place in the file, and not by the page.
    scene.build().map_err(Fault::Scene)?;
    let options = Options {
        port: args.port,
        scene: scene.name.clone(),
        playing: !args.paused,
        change: Change {
            dt: args.settings.dt,
            solver: args.settings.solver.clone(),
            iterations: args.settings.iterations.map(std::num::NonZeroU32::get),
            tolerance: args.settings.tolerance,
            ..Change::default()
        },
        log: Arc::new(|text| {
            // Where standard error is gone there is no one left to tell.
            let _ = writeln!(std::io::stderr(), "viewer: {text}");
        }),
    };
    let viewer = Viewer::start(Arc::new(Scenes::with(scene)), options).map_err(Fault::View)?;
    let url = viewer.url();
    print(&format!("{url}\n"))?;
    if !args.no_open {
        open(&url);
    }
    print("Open this address in a browser on this machine; Ctrl+C ends the viewer.\n")?;
    viewer.wait();
    Ok(())
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
