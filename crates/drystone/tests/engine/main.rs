//! Everything that the engine promises, in one program: each file is a subject. Apart they would
//! compile the generic code of the engine anew for each.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod at_rest;
mod attachments;
mod bad_input;
mod barrier;
mod blows;
mod ccd_broad;
mod ccd_cases;
mod ccd_common;
mod ccd_data;
mod ccd_distance;
mod changing_worlds;
mod common;
mod cylinders;
mod decomposition;
mod deform;
mod deform_contact;
mod deform_passage;
mod deform_truths;
mod determinism;
mod drawing;
mod fast_bodies;
mod friction;
mod impact_laws;
mod impact_strategies;
mod impacts;
mod intersect_meshes;
mod joint_loops;
mod joints;
mod joints_together;
mod joints_velocity;
mod judge;
mod large_cloth;
mod linkages;
mod matrix;
mod motion;
mod oracles;
mod penalty;
mod problem_files;
mod real_time;
mod real_time_bits;
mod real_time_impacts;
mod round_pairs;
mod rounded;
mod shapes;
mod sleeping;
mod snapshots;
mod solvers_families;
mod solvers_split;
mod solvers_strong;
mod solvers_sweep;
mod stacks;
mod surfaces;
mod watched;
