//! `drumfire completions` and `drumfire man`: files that an installation adds to the program.

use crate::exit::{Exit, Failure};
use crate::flags::{Cli, Shell, with_choices};
use crate::output::Output;
use clap::CommandFactory as _;
use clap_complete::aot;
use drumfire_units::system_words;
use std::path::Path;

/// The program's name in completions and man pages.
const NAME: &str = "drumfire";

/// The completions that clap cannot generate for bash: stored runs, active runs, and files after an
/// `@`. With the default `COMP_WORDBREAKS`, the `@` is a separate word in `COMP_WORDS`, but a
/// completion replaces it too.
const BASH: &str = r#"
_drumfire_stored() {
    local state="${XDG_STATE_HOME:-$HOME/.local/state}/drumfire/runs"
    command ls -1 -- "$state" 2>/dev/null
}

_drumfire_beside() {
    local cur="${COMP_WORDS[COMP_CWORD]}"
    local prev="${COMP_WORDS[COMP_CWORD-1]}"
    [[ "${prev}" == "=" ]] && prev="${COMP_WORDS[COMP_CWORD-2]}"
    case "${prev}" in
        @)
            COMPREPLY=( $(compgen -P @ -f -- "${cur}") )
            return 0
            ;;
        --baseline)
            COMPREPLY=( $(compgen -W "last $(_drumfire_stored)" -- "${cur}") $(compgen -f -- "${cur}") )
            return 0
            ;;
    esac
    case "${cur}" in
        -*) ;;
        @*)
            COMPREPLY=( $(compgen -P @ -f -- "${cur#@}") )
            return 0
            ;;
        *)
            case "${COMP_WORDS[1]} ${COMP_WORDS[2]} ${COMP_CWORD}" in
                "ctl "*" 2")
                    COMPREPLY=( $(compgen -W "last $(drumfire ctl 2>/dev/null | sed -n 's/  .*//p')" -- "${cur}") )
                    return 0
                    ;;
                "report "*" 2" | "resume "*" 2" | "runs rm 3" | "runs tag 3" | "runs note 3")
                    COMPREPLY=( $(compgen -W "last $(_drumfire_stored)" -- "${cur}") $(compgen -d -- "${cur}") )
                    return 0
                    ;;
                "compare "*)
                    case "${prev}" in
                        -*) ;;
                        *)
                            COMPREPLY=( $(compgen -W "last $(_drumfire_stored)" -- "${cur}") $(compgen -f -- "${cur}") )
                            return 0
                            ;;
                    esac
                    ;;
            esac
            ;;
    esac
    _drumfire "$@"
}

complete -F _drumfire_beside -o bashdefault -o default drumfire
"#;

/// The completions that clap cannot generate for fish.
const FISH: &str = r#"
function __drumfire_stored
    set -q XDG_STATE_HOME; or set -l XDG_STATE_HOME $HOME/.local/state
    echo last
    command ls -1 $XDG_STATE_HOME/drumfire/runs 2>/dev/null
end
complete -c drumfire -n "__fish_seen_subcommand_from report resume" -f -a "(__drumfire_stored)"
complete -c drumfire -n "__fish_seen_subcommand_from runs; and __fish_seen_subcommand_from rm tag note" -f -a "(__drumfire_stored)"
complete -c drumfire -n "__fish_seen_subcommand_from compare" -a "(__drumfire_stored)"
complete -c drumfire -l baseline -x -a "(__drumfire_stored)"
complete -c drumfire -n "__fish_seen_subcommand_from ctl; and test (count (commandline -opc)) -eq 2" -f -a "last (drumfire ctl 2>/dev/null | string replace -r '  .*' '')"
"#;

/// The completions that clap cannot generate for zsh, inserted before the script's last lines.
const ZSH: &str = r#"
_drumfire_stored() {
    local -a runs
    runs=(last ${(f)"$(command ls -1 -- "${XDG_STATE_HOME:-$HOME/.local/state}/drumfire/runs" 2>/dev/null)"})
    _alternative "runs:run:compadd -a runs" "directories:directory:_files -/"
}

_drumfire_live() {
    local -a runs
    runs=(last ${(f)"$(drumfire ctl 2>/dev/null | sed -n 's/  .*//p')"})
    compadd -a runs
}
"#;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell, output: &Output) -> Result<Exit, Failure> {
    let mut cli = Cli::command().mut_subcommands(with_choices);
    let mut script = Vec::new();
    match shell {
        Shell::Bash => aot::generate(aot::Bash, &mut cli, NAME, &mut script),
        Shell::Zsh => aot::generate(aot::Zsh, &mut cli, NAME, &mut script),
        Shell::Fish => aot::generate(aot::Fish, &mut cli, NAME, &mut script),
    }
    let script = String::from_utf8_lossy(&script);
    let script = match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => with_runs(&script),
    };
    output.print(script.as_bytes())?;
    Ok(Exit::Done)
}

/// The zsh script with completions for arguments that are runs.
fn with_runs(script: &str) -> String {
    let mut out = String::with_capacity(script.len() + ZSH.len());
    let (mut is_ctl, mut is_compare) = (false, false);
    for line in script.lines() {
        // The functions follow the line with the command's name.
        if let Some(name) = line.strip_prefix('(') {
            is_ctl = name.starts_with("ctl)");
            is_compare = name.starts_with("compare)");
        }
        let begins = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
        let is_side = is_compare && begins(&["':base -- ", "':candidate -- "]);
        let is_run = begins(&["':run -- ", "'::run -- ", "'--baseline="]) || is_side;
        let line = match (is_run, is_ctl) {
            (true, true) => line.replacen(":_default'", ":_drumfire_live'", 1),
            (true, false) => line.replacen(":_default'", ":_drumfire_stored'", 1),
            (false, _) => line.to_owned(),
        };
        out.push_str(&line);
        out.push('\n');
        if line.starts_with("#compdef") {
            out.push_str(ZSH);
        }
    }
    out
}

/// Writes a man page of section 1 for the program and for each of its commands.
pub(crate) fn man(folder: &Path) -> Result<Exit, Failure> {
    let written = clap_mangen::generate_to(Cli::command(), folder);
    written.map_err(|error| {
        let why = match folder.exists() {
            true => system_words(&error),
            false => "it does not exist".to_owned(),
        };
        let folder = folder.display();
        Failure::failed(format!("can't write man pages into {folder}: {why}"))
    })?;
    Ok(Exit::Done)
}
