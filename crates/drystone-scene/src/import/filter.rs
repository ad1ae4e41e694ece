//! Which bodies touch which, as groups.
//!
//! Other formats filter contacts by rules of their own: masks, lists of names, excluded pairs.
//! Bodies to which all rules apply alike are a class; every class becomes a group, and its bodies
//! meet the groups that the rules let them touch. That is exact for any symmetric rule, with up to
//! 32 classes.

use crate::schema::Body;

/// Most groups that a scene has.
const MAX_GROUPS: usize = 32;

/// Puts bodies into groups. `classes` has for each body what rules see of it, or `None` for one
/// that touches nothing anyway; `touch` says whether bodies of two classes touch. Gives `false` if
/// there are too many classes; then nothing is filtered.
pub(super) fn assign<C: PartialEq>(
    bodies: &mut [Body],
    classes: &[Option<C>],
    touch: impl Fn(&C, &C) -> bool,
) -> bool {
    let mut distinct: Vec<&C> = Vec::new();
    for class in classes.iter().flatten() {
        if !distinct.contains(&class) {
            distinct.push(class);
        }
        if distinct.len() > MAX_GROUPS {
            return false;
        }
    }
    let all_touch = |class: &&C| distinct.iter().all(|other| touch(class, other));
    if distinct.iter().all(all_touch) {
        return true;
    }
    // There are at most 32.
    let number = |place: usize| u8::try_from(place).unwrap_or(0);
    for (body, class) in bodies.iter_mut().zip(classes) {
        let Some(class) = class else {
            continue;
        };
        let places = || distinct.iter().enumerate();
        let own = places().find(|(_, other)| **other == class);
        body.groups = Some(own.map(|(place, _)| number(place)).into_iter().collect());
        let met = places().filter(|(_, other)| touch(class, other));
        body.meets = Some(met.map(|(place, _)| number(place)).collect());
    }
    true
}
