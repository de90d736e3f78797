//! `drumfire cluster attach`: continues the run of a coordinator that died.

use super::journal::{JournalFile, TakenJournal};
use super::surroundings::CallerPlace;
use super::{Opening, carry_out, text_of_load};
use crate::command::agent::credentials;
use crate::command::local::Local;
use crate::command::phases::{self, Compiled};
use crate::command::plan_file::PlanFile;
use crate::document::{self, Written};
use crate::exit::{Exit, Failure};
use crate::flags::AttachFlags;
use crate::output::Output;
use drumfire_cluster::{CoordinatorDriver, NatsCredentials, Setup};
use drumfire_compile::{Host, compile_draft};
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::Console as _;
use std::env;
use std::sync::Arc;

/// Continues a run, and writes the results of the whole run.
pub(crate) fn run(mut flags: AttachFlags, output: &Output) -> Result<Exit, Failure> {
    let taken = JournalFile::take_over(&flags.run, flags.take_over)?;
    let head = taken.record.outline.head.clone();
    let version = env!("CARGO_PKG_VERSION");
    if head.program != version {
        let theirs = &head.program;
        return Err(Failure::failed(format!(
            "the run was started by drumfire {theirs}, but this is drumfire {version}"
        )));
    }
    let surroundings = CallerPlace::of_text(&head.caller);
    // Destinations of results are relative to the folder in which the first coordinator was
    // started.
    env::set_current_dir(&surroundings.started_in).map_err(|error| {
        let folder = surroundings.started_in.display();
        Failure::failed(format!(
            "can't enter {folder}, where the run was started: {error}"
        ))
    })?;
    let mut file = PlanFile::of_text(&head.text, "the plan");
    file.folder.clone_from(&surroundings.folder);
    if flags.output.store.is_none() {
        flags.output.store.clone_from(&surroundings.store);
        flags.output.no_store |= surroundings.no_store;
    }
    let read = |host: &Arc<dyn Host>| {
        let mut draft = file.draft(&[], host, output);
        document::apply_flags(&mut draft.document, &flags.settings)?;
        let plan = compile_draft(&draft, host).map_err(|found| file.failure(&found))?;
        Ok(Compiled { draft, plan })
    };
    let taken_values = head.taken.iter().cloned().collect();
    phases::behind_setup(&file, taken_values, output, read, |compiled, signals| {
        let written = Written {
            naming: Naming::Keys,
            folder: surroundings.folder.clone(),
            ..compiled.draft.document.into()
        };
        surroundings.remove_record(&head.run, flags.take_over)?;
        output.note(&format!("continuing run {}", head.run));
        let attach = Attach {
            flags: &flags,
            taken,
            text: text_of_load(&written.document),
        };
        carry_out(
            Opening::Attach(Box::new(attach)),
            compiled.plan,
            &written,
            &flags.output,
            signals,
            output,
        )
    })
}

/// A run that is about to be continued.
pub(super) struct Attach<'a> {
    flags: &'a AttachFlags,
    taken: TakenJournal,
    /// The plan that agents get.
    text: String,
}

impl Attach<'_> {
    /// Starts the coordinator. Returns the journal that it writes.
    pub(super) fn driver(
        self,
        plan: &Arc<Plan>,
        local: &mut Option<Local>,
    ) -> Result<(CoordinatorDriver, JournalFile), Failure> {
        let TakenJournal {
            journal,
            writer,
            record,
        } = self.taken;
        let head = &record.outline.head;
        let url = match &self.flags.nats {
            Some(url) => url.clone(),
            // The local agents and their server ended with their coordinator.
            None if CallerPlace::of_text(&head.caller).is_local => {
                local.insert(Local::start()?).url.clone()
            }
            None => head.url.clone(),
        };
        let mut credentials = NatsCredentials {
            group: head.group.clone(),
            ..credentials(&url, &self.flags.way)?
        };
        if let Some(local) = local {
            credentials.user = local.user();
        }
        let setup = Setup {
            run: head.run.clone(),
            program: head.program.clone(),
            plan: Arc::clone(plan),
            // Agents with a share have the plan and its files; a waiting agent may still get a
            // share.
            text: self.text,
            attachments: head.attachments.clone(),
            agents: usize::try_from(head.agents).unwrap_or(usize::MAX),
            on_loss: head.on_loss,
        };
        let driver = CoordinatorDriver::attach(credentials, setup, record, writer)?;
        Ok((driver, journal))
    }
}
