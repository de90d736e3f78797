//! The cost of a scenario compared with the same requests as a list, of a script compared with a
//! template, and of the same scenario in k6.

use super::contest::{Contender, CountedBy, absent, difference, hold};
use super::plans::{self, ITEM};
use crate::claim;
use crate::floor::Encryption;
use crate::process::{CLIENT_CORE, pinned};
use crate::rounds::{Title, Unit};
use crate::rows::Settings;
use crate::server::{Kind, Server};
use crate::table::{Line, Target};
use std::io::Result;

/// The number of users of each client.
const USERS: u32 = 32;

const TITLE: &str = "two requests, 32 users, nginx";

/// The two requests of the scenario as a list: responses are not inspected, nothing varies.
const PLAIN: &str = "requests:
  - { get: /item.json, name: item }
  - { get: \"/?name=user250&token=8f14e45fceea167a\", name: look }";

/// The requests as steps.
const STEPS: &str = "scenario:
  - { get: /item.json, name: item }
  - { get: \"/?name=user250&token=8f14e45fceea167a\", name: look }";

/// The steps with a feed, a value taken from a response, and a template.
const VALUES: &str = "scenario:
  - { get: /item.json, name: item, take: { token: json $.token } }
  - { get: \"/?name={{ people.name }}&token={{ token }}\", name: look }";

/// The steps with a function that takes a value, and one that makes a value.
const SCRIPT: &str = "script: look.js
scenario:
  - { get: /item.json, name: item, take: { token: js token } }
  - { get: \"/?name={{ js('look', people.name, token) }}\", name: look }";

const LOOK_JS: &str = "function token(response) { return JSON.parse(response.body).token; }
function look(name, token) { return name + '&token=' + token; }
";

/// A k6 script of the scenario.
const K6_JS: &str = "import http from 'k6/http';
import exec from 'k6/execution';
import { SharedArray } from 'k6/data';
const people = new SharedArray('people', () =>
  open('people.csv').split('\\n').slice(1).filter((name) => name));
export default function () {
  const name = people[exec.scenario.iterationInTest % people.length];
  const item = http.get('@/item.json', { tags: { name: 'item' } });
  const token = item.json('token');
  http.get(`@/?name=${name}&token=${token}`, { tags: { name: 'look' } });
}
";

/// Measures all contenders alternately.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let programs = &settings.programs;
    let server = Server::start(Kind::Nginx, Encryption::Plain, programs)?;
    let folder = server.folder();
    plans::write_people(folder)?;
    plans::write(folder, "item.json", ITEM)?;
    plans::write(folder, "look.js", LOOK_JS)?;
    let stop = format!("after: {}s", settings.seconds);
    let mut contenders = Vec::new();
    for (name, file, pool) in [
        ("drumfire, plain", "plain.yaml", PLAIN),
        ("drumfire, steps", "steps.yaml", STEPS),
        ("drumfire, scenario", "scenario.yaml", VALUES),
        ("drumfire, script", "script.yaml", SCRIPT),
    ] {
        let pool = format!("users: {USERS}\n{pool}");
        let text = plans::plan(&server.url(""), &pool, &stop);
        let plan = plans::write(folder, file, &text)?;
        contenders.push(Contender {
            name,
            command: plans::run(&programs.drumfire, &plan),
            count: CountedBy::Printed(claim::drumfire),
            target: None,
        });
    }
    if let Some(k6) = &programs.k6 {
        let script = plans::write(folder, "k6.js", &K6_JS.replace('@', &server.url("")))?;
        let mut command = pinned(CLIENT_CORE, k6);
        command.args([
            "run",
            "--quiet",
            "--no-usage-report",
            "--summary-mode=disabled",
        ]);
        command.args(["--vus", &USERS.to_string()]);
        command.args(["--duration", &format!("{}s", settings.seconds)]);
        command.arg(script);
        contenders.push(Contender {
            name: "k6",
            command,
            count: CountedBy::Nginx,
            target: Some(Target::AtMost(0.1)),
        });
    }
    let runs = hold(&mut contenders, &server, settings)?;
    let title = Title {
        case: TITLE,
        unit: Unit::PerRequest,
        seconds: settings.seconds,
    };
    let [plain, steps, scenario, script] = [0, 1, 2, 3].map(|index| runs[index].as_slice());
    let mut lines = Vec::new();
    for (contender, theirs) in contenders.iter().zip(&runs) {
        // Only k6 is another tool.
        let ours = contender.target.map(|_| scenario);
        let line = title.compare(contender.name, theirs, ours, contender.target);
        lines.push(Line::Comparison(line));
    }
    if programs.k6.is_none() {
        lines.push(absent(TITLE, "k6"));
    }
    let mut more = |what: &str, more, less, target| {
        lines.push(difference(format!("{TITLE}: {what}"), more, less, target));
    };
    more("cost of steps over a list", steps, plain, None);
    let target = Some(Target::AtMost(1.5));
    more("cost of a scenario over a list", scenario, plain, target);
    more("cost of a script over a scenario", script, scenario, None);
    Ok(lines)
}
