//! The same scenes on Drystone and its peers, in one run, judged from poses alone.

mod chart;
mod engine;
mod markdown;
mod quality;
mod race;
mod report;
mod scene;
mod scenes;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use race::{Outcome, race};
use report::{Report, header};
use scenes::{RECIPES, Recipe};

/// Scenes with fewer moving bodies than this are raced with one thread only.
const WORTH_THREADS: usize = 200;

/// Races engines and prints what it cost them and what it was worth.
#[derive(Parser)]
struct Options {
    /// Scenes by name or start of a name, with commas; all of them if not given.
    #[arg(long, value_delimiter = ',')]
    scene: Vec<String>,
    /// Engines by name, with commas; all that were built if not given.
    #[arg(long, value_delimiter = ',')]
    engine: Vec<String>,
    /// Steps of 1/60 s, in place of each scene's own number.
    #[arg(long)]
    steps: Option<usize>,
    /// Numbers of threads, with commas.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Seconds of stepping after which an engine is stopped in a scene.
    #[arg(long, default_value_t = 60.0)]
    budget: f64,
    /// Where to write everything as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Where to draw time against error.
    #[arg(long)]
    chart: Option<PathBuf>,
    /// Where to write tables for a page.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Race nothing: read the JSON of earlier runs, with commas, for their table, chart and page.
    #[arg(long, value_delimiter = ',')]
    from: Vec<PathBuf>,
    /// Print the scenes' names and stop.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    if options.list {
        RECIPES
            .iter()
            .for_each(|recipe| println!("{}", recipe.name));
        return Ok(());
    }
    if options.steps == Some(0) || options.threads.contains(&0) {
        return Err("--steps and --threads must be 1 or more".into());
    }
    if !options.from.is_empty() {
        return show_again(options);
    }
    let mut report = Report::new();
    println!("{}, {} cores\n{}", report.cpu, report.cores, header());
    for recipe in chosen(&options.scene)? {
        race_scene(recipe, options, &mut report);
        save(options, &report)?;
    }
    Ok(())
}

/// Prints and draws earlier runs as if they were one.
fn show_again(options: &Options) -> Result<(), String> {
    let mut all: Option<Report> = None;
    for path in &options.from {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
        let report: Report = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
        match &mut all {
            None => all = Some(report),
            Some(all) => {
                all.outcomes.extend(report.outcomes);
                all.skipped.extend(report.skipped);
            }
        }
    }
    let report = all.unwrap_or_default();
    println!("{}, {} cores\n{}", report.cpu, report.cores, header());
    print_rows(&report, &report.outcomes);
    save(options, &report)
}

/// Writes the files that are asked for; after every scene, so that a long run can be cut short.
fn save(options: &Options, report: &Report) -> Result<(), String> {
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(report).map_err(|e| e.to_string())?;
        write(path, &text)?;
    }
    if let Some(path) = &options.chart {
        write(path, &chart::draw(report))?;
    }
    if let Some(path) = &options.markdown {
        write(path, &markdown::tables(report))?;
    }
    Ok(())
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The scenes that are asked for: an exact name is only itself, else all that start so.
fn chosen(names: &[String]) -> Result<Vec<&'static Recipe>, String> {
    if names.is_empty() {
        return Ok(RECIPES.iter().collect());
    }
    let mut list = Vec::new();
    for name in names {
        let exact = RECIPES.iter().find(|recipe| recipe.name == name);
        let before = list.len();
        match exact {
            Some(recipe) => list.push(recipe),
            None => list.extend(
                RECIPES
                    .iter()
                    .filter(|recipe| recipe.name.starts_with(name)),
            ),
        }
        if list.len() == before {
            return Err(format!("no scene is called `{name}`; --list names them"));
        }
    }
    Ok(list)
}

fn race_scene(recipe: &Recipe, options: &Options, report: &mut Report) {
    let mut scene = (recipe.make)();
    scene.steps = options.steps.unwrap_or(scene.steps);
    let makers: Vec<_> = engine::makers(scene.dim)
        .into_iter()
        .filter(|maker| {
            options.engine.is_empty() || options.engine.iter().any(|name| name == maker.name)
        })
        .collect();
    for &threads in &options.threads {
        if threads > 1 && scene.moving() < WORTH_THREADS {
            continue;
        }
        let makers: Vec<_> = makers
            .iter()
            .copied()
            .filter(|maker| threads == 1 || maker.threaded)
            .collect();
        let (outcomes, skipped) = race(&scene, &makers, threads, options.budget);
        for skip in &skipped {
            println!(
                "{:<15} {:<13} {:>2} skipped: {}",
                skip.scene, skip.engine, skip.threads, skip.reason
            );
        }
        report.skipped.extend(skipped);
        report.outcomes.extend(outcomes.iter().cloned());
        print_rows(report, &outcomes);
    }
}

fn print_rows(report: &Report, outcomes: &[Outcome]) {
    for outcome in outcomes {
        println!("{}", report.row(outcome));
    }
}
