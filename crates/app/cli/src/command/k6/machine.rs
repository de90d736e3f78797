//! The machine around a script: files, logs, signals, random bytes.

use super::flags::{Flags, LogForm};
use super::outputs::Outputs;
use super::secrets::Secrets;
use crate::random;
use crate::signals::Signals;
use drumfire_k6::{Registry, Sample};
use drumfire_vus::{Level, Surroundings};
use serde_json::json;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

pub(super) struct Machine {
    log_form: LogForm,
    is_verbose: bool,
    /// Where lines of the script's console go, if not to the standard error.
    console: Option<File>,
    signals: Signals,
    outputs: Outputs,
    secrets: Secrets,
}

impl Machine {
    pub(super) fn new(flags: &Flags, signals: Signals, outputs: Outputs) -> Result<Self, String> {
        let console = match &flags.console_output {
            None => None,
            Some(path) => {
                let file = File::create(path);
                Some(file.map_err(|error| format!("can't write {path}: {error}"))?)
            }
        };
        let secrets = Secrets::parse(&flags.secrets, &|path| {
            fs::read_to_string(path).map_err(|error| format!("can't read {path}: {error}"))
        })?;
        Ok(Self {
            log_form: flags.log_form,
            is_verbose: flags.is_verbose,
            console,
            signals,
            outputs,
            secrets,
        })
    }
}

impl Surroundings for Machine {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        if Path::new(path).is_dir() {
            return Err("it is a folder".to_owned());
        }
        fs::read(path).map_err(|error| error.to_string())
    }

    fn secret(&mut self, source: Option<&str>, key: &str) -> Result<String, String> {
        self.secrets.get(source, key)
    }

    fn log(&mut self, level: Level, text: &str, source: Option<&str>) {
        if level == Level::Debug && !self.is_verbose {
            return;
        }
        let text = &*self.secrets.redact(text);
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let mut line = match self.log_form {
            LogForm::Text => {
                let source = source.map_or_else(String::new, |source| format!(" source={source}"));
                let (word, text) = (level.word(), json!(text));
                format!("time=\"{time}\" level={word} msg={text}{source}")
            }
            LogForm::Json => {
                let mut object = json!({
                    "level": level.word(),
                    "msg": text,
                    "time": time.to_string(),
                });
                if let Some(source) = source {
                    object["source"] = source.into();
                }
                object.to_string()
            }
            LogForm::Raw => text.to_owned(),
        };
        line.push('\n');
        // A reader that has gone must not end the load.
        let _gone = match (&mut self.console, source) {
            (Some(file), Some(_)) => file.write_all(line.as_bytes()),
            _ => io::stderr().write_all(line.as_bytes()),
        };
    }

    fn sample(&mut self, registry: &Registry, sample: &Sample<'_>) {
        self.outputs.sample(registry, sample);
    }

    fn finish(&mut self) {
        if let Err(message) = self.outputs.finish() {
            self.log(Level::Error, &message, None);
        }
    }

    fn interrupts(&self) -> u32 {
        self.signals.count()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(16) {
            let bits = random::random().unwrap_or_default();
            part.copy_from_slice(&bits[..part.len()]);
        }
    }
}
