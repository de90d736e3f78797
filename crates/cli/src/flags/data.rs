//! Where what varies between requests comes from.

use clap::Args;

/// Templates, feeds, and the order in which requests go through data.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataFlags {
    /// How requests go through the data of -d, where it is a list: turn, random, or once
    /// [default: turn]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<String>,
    /// Rows for templates, as NAME=FILE.csv or NAME=FILE.jsonl: {{NAME.column}}; may be given
    /// several times
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) feed: Vec<String>,
    /// How requests go through the feeds' rows: turn, random, or once [default: turn]
    #[arg(long, value_name = "ORDER")]
    pub(crate) feed_order: Option<String>,
    /// Send everything as it is, whatever looks like a template in it
    #[arg(long, alias = "no-template")]
    pub(crate) no_templates: bool,
}
