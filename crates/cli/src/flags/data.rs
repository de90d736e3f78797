//! Where what varies between requests comes from.

use clap::Args;

/// Templates, feeds, and the order in which requests go through data.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataFlags {
    /// Order of the data of -d, if it is a list: turn, random, or once [default: turn]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<String>,
    /// Rows for templates: NAME=FILE.csv or NAME=FILE.jsonl, used as {{NAME.column}}; repeatable
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) feed: Vec<String>,
    /// Order of the feeds' rows: turn, random, or once [default: turn]
    #[arg(long, value_name = "ORDER", requires = "feed")]
    pub(crate) feed_order: Option<String>,
    /// Send everything as written, without expanding templates
    #[arg(long, alias = "no-template")]
    pub(crate) no_templates: bool,
}
