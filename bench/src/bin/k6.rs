//! Scripts with k6 and with drumfire: what the server received, and what the programs reported.

use clap::Parser;
use drumfire_bench::scripts::{Program, Script, compare, cost};
use std::io::{Error, Result, Write, stdout};
use std::path::PathBuf;

/// Run scripts with k6 and with `drumfire k6` against one server, and print what differs
#[derive(Debug, Parser)]
struct Scripts {
    /// The k6 program; by default the one that the environment variable K6 names
    #[arg(long, value_name = "FILE")]
    k6: Option<PathBuf>,
    /// The program to compare; by default the drumfire beside this program
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
    /// Compare with this k6 program instead of drumfire, to see what differs between two runs of k6
    #[arg(long, value_name = "FILE", conflicts_with = "drumfire")]
    other: Option<PathBuf>,
    /// The folder of scripts
    #[arg(long, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/k6/scripts"))]
    scripts: PathBuf,
    /// Print what a user and a request cost instead of comparing scripts; takes ten minutes
    #[arg(long)]
    cost: bool,
    /// Only the scripts whose names contain one of these
    names: Vec<String>,
}

fn main() -> Result<()> {
    let flags = Scripts::parse();
    if flags.cost {
        let drumfire = match &flags.drumfire {
            Some(drumfire) => drumfire.clone(),
            None => std::env::current_exe()?.with_file_name("drumfire"),
        };
        let folder = std::env::temp_dir().join(format!("drumfire-k6-{}", std::process::id()));
        let printed = cost::table(
            &drumfire,
            flags.k6.as_deref(),
            &folder,
            &mut stdout().lock(),
        );
        std::fs::remove_dir_all(&folder)?;
        return printed;
    }
    let other = match (flags.other, flags.drumfire) {
        (Some(other), _) => Program::k6(other),
        (None, Some(drumfire)) => Program::drumfire(drumfire),
        (None, None) => Program::drumfire(std::env::current_exe()?.with_file_name("drumfire")),
    };
    let k6 = flags
        .k6
        .or_else(|| std::env::var_os("K6").map(PathBuf::from));
    let k6 = k6.ok_or_else(|| Error::other("no k6 program; use --k6 FILE, or set K6"))?;
    let k6 = Program::k6(k6);
    let scripts = Script::list(&flags.scripts)?;
    let chosen = |script: &&Script| {
        flags.names.is_empty() || flags.names.iter().any(|name| script.name.contains(name))
    };
    let mut out = stdout().lock();
    let (mut alike, mut all) = (0, 0);
    for script in scripts.iter().filter(chosen) {
        let differences = compare(script, &k6, &other)?;
        all += 1;
        alike += u32::from(differences.is_empty());
        writeln!(
            out,
            "- {}: {}",
            script.name,
            if differences.is_empty() {
                "equal"
            } else {
                "differs"
            }
        )?;
        for difference in differences {
            writeln!(out, "  - {difference}")?;
        }
    }
    writeln!(out, "\n{alike} of {all} scripts are equal.")?;
    if alike == all {
        Ok(())
    } else {
        Err(Error::other("scripts differ"))
    }
}
