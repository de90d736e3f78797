//! A command line gives the same document on every machine; the number of threads is decided by the
//! placement.

use drumfire_compile::Host;
use drumfire_dialects::{Outcome, for_program, parse};
use drumfire_document::{Environment, form};
use std::sync::Arc;

/// A machine with this number of cores.
#[derive(Debug)]
struct Cores(u32);

impl Environment for Cores {}

impl Host for Cores {
    fn cores(&self) -> u32 {
        self.0
    }
}

#[test]
fn a_document_does_not_depend_on_the_cores() {
    for line in [
        "slow_cooker -qps 10 -concurrency 6 -totalRequests 60 http://127.0.0.1:9/",
        "slow_cooker -qps 10 -concurrency 6 http://127.0.0.1:9/",
        "slow_cooker -qps 10000 -concurrency 8 -totalRequests 80 http://127.0.0.1:9/",
        "slow_cooker -qps 10000 -concurrency 8 http://127.0.0.1:9/",
        "go-wrk -c 8 -d 1 http://127.0.0.1:9/",
    ] {
        let (program, args) = line.split_once(' ').unwrap();
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        let printed = [1, 2, 3, 64].map(|cores| {
            let host: Arc<dyn Host> = Arc::new(Cores(cores));
            match parse(for_program(program).unwrap(), &args, &host, 1) {
                Outcome::Run(run) => form::print(&run.document),
                Outcome::Print { stderr, .. } => panic!("{line}: {stderr}"),
            }
        });
        let [first, others @ ..] = &printed;
        assert!(others.iter().all(|other| other == first), "{printed:#?}");
        assert!(!first.contains("threads"), "{first}");
    }
}
