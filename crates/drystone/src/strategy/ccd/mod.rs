//! The strategies `parallel` and `sequential`: impacts found by continuous collision.
//!
//! Both begin with free flight: velocities after all forces, elastic ones included. Then the motion
//! of all surfaces ([`crate::contact::primitives`]) is watched by [continuous collision](crate::geometry::ccd).
//!
//! * **`parallel`** starts from the contacts of the last step that are pressed or close, finds
//!   every impact that is left, writes all of them down as one contact problem
//!   (normals, weights and arms of the moment of impact), solves it with restitution and friction by
//!   [`Settings::solver`](crate::Settings::solver), and looks again: solving one impact may make
//!   another. Impacts once found stay in the problem.
//! * **`sequential`** goes to the first impact, solves it alone, and goes on from there. What rests
//!   on several points has impacts without end, so they are counted; where the count ends, the report
//!   says that it gave up ([`Resolution::gave_up`]), and the fail-safe does the rest.
//!
//! # A row's target
//!
//! An impact at distance g from the surface (along its normal, at the start) may close that much
//! within the step h, but for the distance r at which it rests:
//! $u_N \ge -(g - r)/h$, and $u_N \ge -e\,u_N^-$ if it is faster than the restitution threshold.
//! Where less than r is left, it opens slowly (at 10 /s).
//!
//! Hits are what comes nearer than the distance k that is to be kept, and r is 2k; between
//! deformables with the thickness t it is $k + t/20$ if that is more. A row is straight, but what slides
//! over folds turns: it may end nearer than its row says. That cushion takes it up, or each step
//! would need several rounds more.
//!
//! # Attached nodes
//!
//! Nodes that are fixed to bodies are held by [six contacts](crate::model::deformable::attachment) each, which
//! are rows of every problem of a step after all impacts: of the first solve, which is made even if
//! nothing meets, of every later one and of inelastic zones. In `sequential` they act once on free
//! flight and then with each impact. With the node at the offset d from its place, the place at the
//! arm a of a body with free velocity v\* and spin ω\* that turns by R in the step, the node's
//! velocity as seen from the body must be
//!
//! $$ u = -\frac dh + \frac{(R - 1)\,a}{h} - \omega^*\times a , $$
//!
//! from either side. So it is back at once: at 10 /s, as for what is nearer than its rest, a node on a
//! body that turns at 20 rad/s would trail by centimetres. At once is no impact, because there is
//! little to take back (what sweeps left, and the body's change of spin times its turn); and never is
//! it faster than [`repair_speed`](crate::contact::problem::assemble::ContactRules::repair_speed).
//!
//! # How deformables answer in `parallel`
//!
//! Small and stiff ones, solids, sheets with attached nodes, and sheets that a rigid body touches
//! which can be moved, answer with their implicit system ([`crate::dynamics::elastic::contact_coupling`]), as in
//! `velocity`. **Large sheets** (those whose system is solved by [conjugate gradients](crate::dynamics::elastic::conjugate_gradients)) that touch nothing but
//! nodes and what can't be moved are split: elastic forces act first, without contact, once a step;
//! then impacts act on the nodes' own masses, $m = 1/\sum_i w_i^2/m_i$. That is Lie's splitting, of
//! first order in the step. It loses energy, never makes any, and keeps momentum to
//! rounding: the elastic part is shifted as a whole so that it moves no centre of mass, and impacts
//! are pairs of impulses. What it costs: a load on a node is felt by its neighbours one step
//! later. A grip that carries N times a node's weight gives way by about
//! $N g h^2/\sqrt{\kappa}$, κ being the stiffness ratio of [`crate::dynamics::elastic::conjugate_gradients`]: for 64 nodes
//! that hang on one, at 120 steps a second and κ = 300, that is 2.5 mm, spread over 17 nodes. Under
//! a stone it would be far more, which is why sheets under rigid bodies are not split.
//!
//! Where a face lies on something round, its nodes stand for it, each a little farther out, so
//! that the face between them stays out: one unknown a contact instead of three that all
//! neighbours share, which sweeps would take hundreds of turns to settle.
//!
//! The **certificate** judges the problem of the last look: its rows are all impacts of the step, its
//! free velocities those after elastic forces (for split sheets: all of them; for others: what
//! the coupling's last round left), its answer the impulses that were given, and the velocities
//! those that bodies have, fail-safe included. So momentum compares each body's velocity with what
//! impulses made of its free one, and the residual asks the laws of contact of the velocities
//! reached. Elastic impulses in its energy are those that were given: for split sheets,
//! m times the change from the velocities before to the free ones.
//!
//! # Rounds
//!
//! The first solve is of the contacts of the last step, the second of all that was found besides, and
//! of what closes next to it: what shares a node with an impact, or with one that does, will meet
//! the next.
//! Later rounds find little, so they do little: where nothing but nodes with their own masses is in
//! contact, what is within three impacts of a new one is swept, from the velocities that all have
//! now, and everything else keeps its impulse; elsewhere islands without a new impact keep their
//! velocities. Pairs whose vertices end where
//! they ended in the look before are not looked at again. Islands of nodes with their own masses
//! are swept on threads (module `sweeps`); everything else is one contact problem for [`Settings::solver`](crate::Settings::solver).
//!
//! # Pairs
//!
//! Pairs that may meet are searched once a step, with the velocities after the first solve. What is
//! near each other and what is proven apart is kept from step to step (`ccd::bundles`); later looks
//! search only around vertices that left the room they were given ([`crate::contact::primitives`]). A search
//! finds what comes as near as what is kept, or within a few times that at the end. What rests
//! farther apart and does not close is not looked for: sheets that lie on each other have forty
//! such pairs a node. No answer depends on what was kept, nor on the number of threads.
//!
//! # The fail-safe
//!
//! What still meets goes through, in turn,
//!
//! 1. **inelastic zones** (after Harmon et al. 2008): what meets, and what met in the rounds before,
//!    without friction and bounce, solved together, looked at again, forty rounds;
//! 2. **rigid zones** (after Provot 1997 and Bridson et al. 2002): bodies and nodes that still meet
//!    move on as one rigid body with their momentum and angular momentum, or with the fixed or
//!    scripted body among them; zones grow until nothing meets, twenty rounds;
//! 3. **truncation**: bodies that still meet go half of their way, then a quarter, then none.
//!
//! Bodies and the nodes that are attached to them go together in zones and are cut by the same part,
//! so none is torn off.
//!
//! Where a body stays it was free of intersection, and everything else was proven free; so **the end
//! of a step does not intersect if its start did not**. Scripted bodies and what is attached to them
//! can't be stopped: if
//! one of them still meets something that has stopped, the step fails as infeasible.

mod attached_groups;
mod attachments;
mod impact_set;
mod impact_zones;
mod parallel;
mod sequential;
mod shared_nodes;
mod stepper;
mod sweeps;
mod swept_motion;

pub(crate) use stepper::CcdStepper;

use crate::contact::detection::Contact;
use crate::contact::primitives::Poses;
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::BroadPhase;
use crate::judge::law::Answered;
use crate::math::algebra::Components;
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::attachment::Attachment;
use crate::parallel::thread_pool::Kept;
use crate::solver::SolveReport;
use crate::strategy::profile::{Feature, Options, Profile, SettingsError};
use crate::strategy::step::{Resolution, StepSettings};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use sweeps::NodeRow;
use swept_motion::Impact;

/// Options of the strategies `parallel` and `sequential`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Impacts {
    /// Distance of surfaces that is kept, m.
    pub keep: f64,
    /// `parallel`: looks at the step at most. `sequential`: impacts of a step at most.
    pub most: u32,
}

impl Impacts {
    /// As `parallel` has them: ten looks.
    pub const PARALLEL: Self = Self {
        keep: 1e-4,
        most: 10,
    };
    /// As `sequential` has them: a thousand impacts.
    pub const SEQUENTIAL: Self = Self {
        keep: 1e-4,
        most: 1000,
    };
}

/// What strategies that watch the way of surfaces can't do.
const REFUSES: &[Feature] = &[
    Feature::Joints,
    Feature::UnheldAngles,
    Feature::OneWay,
    Feature::Hooks,
    Feature::Reflection,
];

/// What `parallel` says of itself.
pub(crate) const PARALLEL: Profile = Profile {
    name: "parallel",
    usual_dt: 1.0 / 240.0,
    solver: None,
    is_threaded: true,
    watches_motion: true,
    joints_are_contacts: false,
    keeps_contacts: false,
    refuses: REFUSES,
};

/// What `sequential` says of itself.
pub(crate) const SEQUENTIAL: Profile = Profile {
    name: "sequential",
    ..PARALLEL
};

impl Options for Impacts {
    fn check(&self) -> Result<(), SettingsError> {
        for (field, value) in [
            ("impacts.keep (m)", self.keep),
            ("impacts.most", f64::from(self.most)),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(SettingsError {
                    field,
                    expected: "a finite number greater than 0",
                    value: value.to_string(),
                });
            }
        }
        Ok(())
    }
}

/// Lists of a step, kept for their memory.
#[derive(Debug)]
pub(crate) struct Memory<S: Space> {
    /// What contacts will be written to.
    pub(crate) contacts: Vec<Contact<S>>,
    hits: Kept<Impact<S>>,
    rows: Vec<Option<NodeRow<S>>>,
    swept: Vec<NodeRow<S>>,
    sorted: Vec<NodeRow<S>>,
}

impl<S: Space> Default for Memory<S> {
    fn default() -> Self {
        Self {
            contacts: Vec::new(),
            hits: Kept::default(),
            rows: Vec::new(),
            swept: Vec::new(),
            sorted: Vec::new(),
        }
    }
}

impl<S: Space> Clone for Memory<S> {
    /// Nothing in it is worth a copy.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// All that a step starts from.
pub(crate) struct Start<'a, S: Space> {
    pub(crate) bodies: &'a Bodies<S>,
    pub(crate) rules: &'a PairRules<'a, S>,
    pub(crate) options: &'a Impacts,
    pub(crate) settings: &'a StepSettings<S>,
    /// Velocities after all forces.
    pub(crate) free: Vec<Motion<S>>,
    /// Contacts that the last step solved.
    pub(crate) solved: &'a [Contact<S>],
    /// Nodes that are fixed to bodies.
    pub(crate) attached: &'a [Attachment],
    /// Whether the step will be judged.
    pub(crate) is_judged: bool,
    /// Trees of the last step.
    pub(crate) trees: &'a RefCell<BroadPhase<S>>,
    pub(crate) memory: &'a RefCell<Memory<S>>,
}

/// A guess of the velocities that elastic forces lead to before contact: those of now without what
/// contacts did to nodes in the last step, since where things rest, they will do it again.
pub(crate) fn without_contact<S: Space>(
    bodies: &Bodies<S>,
    solved: &[Contact<S>],
) -> Vec<Motion<S>> {
    let mut motion = bodies.motion.clone();
    for contact in solved {
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let Some(nodes) = &contact.nodes[side] else {
                continue;
            };
            for (&k, weight) in nodes.bodies.iter().zip(nodes.weights) {
                // Bodies may have gone since.
                if let Some(motion) = motion.get_mut(k as usize) {
                    let inv_mass = bodies.inertial[k as usize].inv_mass;
                    motion.linear += inv_mass.scale(contact.impulse) * (sign * weight);
                }
            }
        }
    }
    motion
}

/// Where a step leads.
pub(crate) struct Outcome<S: Space> {
    /// Where everything is.
    pub(crate) end: Poses<S>,
    pub(crate) contacts: Vec<Contact<S>>,
    /// For the judge, if there is to be one.
    pub(crate) answered: Option<Answered<S>>,
    pub(crate) solve: SolveReport,
    pub(crate) resolution: Resolution,
}
