//! The strategies `parallel` and `sequential` at work in a world.

use super::parallel::parallel;
use super::sequential::sequential;
use super::{Impacts, Memory, Start, without_contact};
use crate::contact::primitives::Primitives;
use crate::contact::rules::PairRules;
use crate::dynamics::elastic::conjugate_gradients::Effort;
use crate::dynamics::elastic::contact_coupling::Elastic;
use crate::dynamics::elastic::systems::ElasticSystems;
use crate::dynamics::failsafe::Rescue;
use crate::geometry::Space;
use crate::geometry::ccd::broad_phase::BroadPhase;
use crate::judge::certificate::Solution;
use crate::model::deformable::attachment::Attachment;
use crate::parallel::thread_pool;
use crate::strategy::step::{Failure, Phase, StepInput, StepOutput, Stepper};
use std::any::Any;
use std::cell::RefCell;

/// The strategies `parallel` and `sequential` at work.
#[derive(Clone, Debug)]
pub(crate) struct CcdStepper<S: Space> {
    options: Impacts,
    /// Whether impacts are resolved one after the other.
    is_sequential: bool,
    /// Trees of the last step: no answer depends on how they are sorted.
    trees: BroadPhase<S>,
    memory: Memory<S>,
    systems: ElasticSystems,
}

impl<S: Space> CcdStepper<S> {
    pub(crate) fn new(options: Impacts, is_sequential: bool) -> Self {
        Self {
            options,
            is_sequential,
            trees: BroadPhase::default(),
            memory: Memory::default(),
            systems: ElasticSystems::default(),
        }
    }
}

impl<S: Space> Stepper<S> for CcdStepper<S> {
    fn set_options(&mut self, options: &dyn Any) -> bool {
        let own = options.downcast_ref().copied();
        self.options = own.unwrap_or(self.options);
        own.is_some()
    }

    fn copy(&self) -> Box<dyn Stepper<S>> {
        Box::new(self.clone())
    }

    fn step(&mut self, input: &mut StepInput<'_, S>) -> Result<StepOutput<S>, Failure<S>> {
        let mut free = input.apply_forces();
        input.check_free(&free)?;
        let (bodies, deformables) = (&*input.bodies, input.deformables);
        let (primitives, guess) = thread_pool::both(
            input.settings.threads as usize,
            || Primitives::new(bodies, deformables),
            || without_contact(bodies, &input.contacts.solved),
        );
        (input.watch)(Phase::Detection);
        let rule = input.settings.elastic_rule(if self.is_sequential {
            Effort::Full
        } else {
            Effort::Brisk
        });
        let attached: Vec<Attachment> = deformables.attached().copied().collect();
        let elastic = (deformables, &mut self.systems);
        let mut elastic = Elastic::guessed(elastic, (bodies, &guess), &mut free, rule, &[])
            .map_err(Failure::Elastic)?;
        input.check_free(&free)?;
        (input.watch)(Phase::Elastic);
        let trees = RefCell::new(std::mem::take(&mut self.trees));
        let memory = RefCell::new(std::mem::take(&mut self.memory));
        let mut start = Start {
            bodies,
            rules: &PairRules {
                materials: input.materials,
                hooks: input.hooks,
                apart: input.joints.apart(),
            },
            options: &self.options,
            settings: &input.settings,
            free,
            solved: &input.contacts.solved,
            attached: &attached,
            is_judged: input.is_judged,
            trees: &trees,
            memory: &memory,
        };
        let outcome = if self.is_sequential {
            sequential(&mut start, &primitives, &mut elastic)
        } else {
            parallel(&start, &primitives, &mut elastic, input.watch)
        };
        (self.trees, self.memory) = (trees.into_inner(), memory.into_inner());
        let outcome = outcome?;
        input.move_to(outcome.end);
        input.check_range()?;
        (input.watch)(Phase::Motion);
        let contacts = outcome.contacts.len();
        self.memory.contacts = std::mem::replace(&mut input.contacts.solved, outcome.contacts);
        input.find_contacts_if_judged();
        Ok(StepOutput {
            contacts,
            solve: outcome.solve,
            rescue: Rescue::default(),
            resolution: outcome.resolution,
            solution: outcome.answered.map(|answered| Solution {
                answered,
                own_contacts: None,
            }),
        })
    }
}
