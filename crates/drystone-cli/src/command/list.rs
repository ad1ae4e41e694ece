//! `drystone list`: the gallery.

use drystone_scene::gallery;

use crate::fault::Fault;
use crate::text::Columns;

/// Name, dimension and what to look at, a line for each scene.
pub(crate) fn list() -> Result<String, Fault> {
    let entries = gallery::entries();
    let longest = entries.iter().map(|entry| entry.name.len()).max();
    let name_width = longest.unwrap_or(0);
    let mut text = Columns::new(String::new(), name_width + 4);
    for entry in entries {
        let scene = entry.scene().map_err(Fault::Scene)?;
        let label = format!("{:name_width$}  {}D", entry.name, scene.dimension);
        if entry.name == gallery::DEFAULT {
            text.line(&label, &format!("{} (the default)", scene.look));
        } else {
            text.line(&label, &scene.look);
        }
    }
    Ok(text.finish() + "\nRun one with `drystone run NAME`.\n")
}
