//! `drystone picture`: a scene at one time, as a picture.

use drystone_view::still::Still;

use super::print;
use crate::cli::PictureArgs;
use crate::fault::Fault;
use crate::live::camera;
use crate::output::Target;
use crate::plan::Plan;

/// Runs a scene to a time and writes a picture of it.
pub(crate) fn picture(args: &PictureArgs) -> Result<(), Fault> {
    let mut plan = Plan::new(&args.scene, &args.settings, args.at)?;
    let (width, height) = args.size;
    let still = Still {
        width,
        height,
        camera: camera(&plan.scene),
        contacts: args.contacts,
    };
    still.check_size().map_err(Fault::Picture)?;
    let mut target = Target::open(&args.out)?;
    plan.show_warnings();
    plan.make_steps()?;
    let image = still.render(&plan.world.stage(), &plan.world.frame());
    let bytes = image
        .and_then(|image| image.png())
        .map_err(Fault::Picture)?;
    target.replace(&bytes)?;
    print(&format!(
        "wrote {} ({width} x {height}): {} after {:.2} s\n",
        args.out.display(),
        plan.scene.name,
        plan.world.time(),
    ))
}
