//! The page, as one HTML file inside the program.

/// The page; empty where the program was built without npm.
pub const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Where data of a replay goes in the page.
pub(crate) const DATA_MARK: &str = "<!-- data -->";
