//! Tables for a page: scenes down, engines across.

use std::fmt::Write;

use crate::race::Outcome;
use crate::report::Report;

/// Times for each number of threads, then errors (which do not depend on it in these engines).
pub fn tables(report: &Report) -> String {
    let mut page = String::new();
    let mut counts: Vec<usize> = report.outcomes.iter().map(|o| o.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    for threads in counts {
        let plural = if threads == 1 { "" } else { "s" };
        let _ = writeln!(
            page,
            "Median time a step in ms, {threads} thread{plural}:\n"
        );
        table(&mut page, report, threads, |o| significant(o.median_ms));
    }
    page.push_str("Error in mm (**fell** where what should stand did not):\n\n");
    table(&mut page, report, 1, |o| match o.verdict.stands {
        Some(false) => "**fell**".into(),
        _ => significant(o.verdict.error_mm),
    });
    page.push_str("Deepest overlap at the end in mm:\n\n");
    table(&mut page, report, 1, |o| {
        significant(o.verdict.penetration_mm)
    });
    page
}

/// One table. A star marks a run that was stopped before the scene's last step.
fn table(page: &mut String, report: &Report, threads: usize, cell: impl Fn(&Outcome) -> String) {
    let rows: Vec<&Outcome> = report
        .outcomes
        .iter()
        .filter(|outcome| outcome.threads == threads)
        .collect();
    let mut engines = report.engines();
    engines.retain(|engine| rows.iter().any(|o| o.engine == *engine));
    let _ = writeln!(page, "| scene | {} |", engines.join(" | "));
    let _ = writeln!(page, "|---|{}", "---:|".repeat(engines.len()));
    for scene in report.scenes() {
        let of_scene = || rows.iter().filter(|outcome| outcome.scene == scene);
        if of_scene().next().is_none() {
            continue;
        }
        let cells: Vec<String> = engines
            .iter()
            .map(|engine| {
                let found = of_scene().find(|outcome| outcome.engine == *engine);
                found.map_or(String::new(), |outcome| {
                    let star = if report.is_cut_short(outcome) {
                        "\\*"
                    } else {
                        ""
                    };
                    cell(outcome) + star
                })
            })
            .collect();
        let _ = writeln!(page, "| {scene} | {} |", cells.join(" | "));
    }
    page.push('\n');
}

/// Three significant digits at most, without an exponent.
fn significant(value: f64) -> String {
    match value {
        v if !v.is_finite() => "not a number".into(),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v if v >= 0.0005 => format!("{v:.3}"),
        _ => "0".into(),
    }
}
