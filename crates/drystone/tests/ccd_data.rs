//! The public queries with exact ground truth: none is missed, and few are hit needlessly.

mod ccd_common;

use ccd_common::{Kind, queries};

#[test]
fn no_query_is_missed_and_few_are_hit_needlessly() {
    let queries = queries();
    let mut needless = 0;
    let mut by = std::collections::BTreeMap::new();
    for (index, query) in queries.iter().enumerate() {
        let answer = query.ask(0.0);
        assert!(
            answer.is_some() || !query.truth,
            "missed {index}: {query:?}"
        );
        if answer.is_some() && !query.truth {
            needless += 1;
            *by.entry((query.set.clone(), query.kind == Kind::VertexFace))
                .or_insert(0) += 1;
        }
    }
    println!(
        "{} queries, {needless} needless hits {by:#?}",
        queries.len()
    );
}
