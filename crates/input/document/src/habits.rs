//! Names that users of other tools write by habit, and their equivalents here.
//!
//! One table for curl, hey, oha, wrk, ab, vegeta, h2load, k6, ghz, grpcurl, websocat, wscat, Artillery,
//! vLLM, AIPerf, GuideLLM and llmperf: flags, commands and keys of plans that drumfire lacks. The manual's tables for newcomers are generated from it.
//! Names with a different meaning here are not in the table, because their readers must check the
//! value.

/// The place of a habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HabitPlace {
    /// A flag of `drumfire http`.
    Http,
    /// A flag of `drumfire grpc`.
    Grpc,
    /// A flag of both. Also a flag of the commands below, if they have the flags of the advice.
    Load,
    /// A flag of `drumfire ws`.
    Ws,
    /// A flag of `drumfire llm`.
    Llm,
    /// A flag of `drumfire run`.
    Run,
    /// A command of the program.
    Command,
    /// A key of a plan.
    Key,
}

/// Names in other tools, and the advice for them.
#[derive(Clone, Copy, Debug)]
pub struct Habit {
    /// The place.
    pub on: HabitPlace,
    /// The names, separated by spaces.
    pub typed: &'static str,
    /// The advice as a clause. Braces within backticks enclose an example of a value, which the
    /// typed value can replace: `-X {POST}`.
    pub ours: &'static str,
}

impl Habit {
    /// The advice, with a value instead of its example or with the example.
    #[must_use]
    pub fn advice(&self, value: Option<&str>) -> String {
        match self.place() {
            None => self.ours.to_owned(),
            Some((from, to)) => {
                let (before, example, after) = (
                    &self.ours[..from],
                    &self.ours[from + 1..to],
                    &self.ours[to + 1..],
                );
                format!("{before}{}{after}", value.unwrap_or(example))
            }
        }
    }

    /// The example of a value, if the advice has one.
    #[must_use]
    pub fn example(&self) -> Option<&'static str> {
        let (from, to) = self.place()?;
        Some(&self.ours[from + 1..to])
    }

    /// The braces around the example. `{{uuid}}` is a template and not an example.
    fn place(&self) -> Option<(usize, usize)> {
        let tick = self.ours.find('`')?;
        let from = tick + self.ours[tick..].find('{')?;
        let to = from + self.ours[from..].find('}')?;
        (!self.ours[from..].starts_with("{{")).then_some((from, to))
    }
}

/// The habit of a name at a place.
#[must_use]
pub fn find(on: HabitPlace, typed: &str) -> Option<&'static Habit> {
    let suits = |habit: &&Habit| match on {
        HabitPlace::Http | HabitPlace::Grpc => habit.on == on || habit.on == HabitPlace::Load,
        _ => habit.on == on,
    };
    let mut habits = HABITS.iter().filter(suits);
    habits.find(|habit| habit.typed.split(' ').any(|name| name == typed))
}

macro_rules! habits {
    ($($on:ident $typed:literal => $ours:expr;)*) => {
        &[$(Habit { on: HabitPlace::$on, typed: $typed, ours: $ours }),*]
    };
}

const URL_LISTS: &str = "pass URLs as arguments: URL, or @FILE for a list of them";
const FORM: &str = "for a part of a multipart body, use `-F {name=value}`";
const CREDENTIALS: &str =
    "put credentials in the URL, http://user:password@host/, or in -H 'Authorization: …'";
const BODY_FILE: &str = "to read the body from a file, use `-d @{FILE}`";
const RESULTS: &str = "for the summary, use `--json {FILE}`; for histograms, --csv FILE; for a row per request, --rows FILE";
const SHOWN: &str = "to send one of each request and print the exchange, use `--show`";
const RAMP: &str = "for a load that changes, use a law: `-r 'line(5,200,60s) const(200,5m)'` or -u";
const RAMP_OF_PLAN: &str =
    "for a load that changes, use a law: `-r 'line(5,200,60s) const(200,5m)'`";
const BURSTS: &str =
    "for a burst, use a rate law such as -r 'const(50,30s) once(500) const(50,30s)'";
const KEEP_ALIVE: &str = "to open a connection for each request, use `--no-keepalive`";
const VARIABLE: &str = "to set a variable of the plan, use `--set vars.{NAME=VALUE}`; to read the environment in a plan, use ${env:NAME}";
const TIMEOUT: &str = "to set the timeout of a request, use `--timeout {5s}`";

/// Every habit.
pub const HABITS: &[Habit] = habits! {
    Http "-m" => "to set the method, use `-X {POST}`";
    Grpc "-m" => "to send metadata, use `-H {'key: value'}`";
    Load "-t" =>
        "to set the timeout of a request, use --timeout; to set the number of threads, use --threads";
    Load "-D" => "to read data from a file, use `-d @{FILE}`; to set the duration, use -z";
    Load "-a" => CREDENTIALS;
    Load "-A" => "to send headers, use `-H 'Accept: …'` or `-H 'User-Agent: …'`";
    Http "-T" =>
        "to set the content type, use `-H 'Content-Type: …'`; to set a timeout, use --timeout";
    Http "-U" => "to set the user agent, use `-H 'User-Agent: …'`";
    Http "-b -C" => "to send cookies, use `-H 'Cookie: {name=value}'`";
    Load "-O" => RESULTS;
    Http "-p" => BODY_FILE;
    Load "-w" =>
        "`--json FILE` has every figure; at the end, drumfire always waits for requests in flight";
    Load "-R" => "to set the rate, use `-r {RATE}`";
    Load "-s" =>
        "for varying values, use templates such as {{uuid}}, or JavaScript functions with `script:` in a plan; to print only the result, use -q";
    Http "-i" => "to send exactly N requests, use `-n {N}`; to see a response, use --show";
    Grpc "-i" => "to set the directory of imports, use `--import-path {FOLDER}`";
    Load "-v --verbose --debug --http-debug" => SHOWN;
    Http "--dump --print --include" => SHOWN;
    Http "-I --head" => "for a HEAD request, use `-X HEAD`";
    Load "-E" => "for a client certificate, use --cert FILE with --key FILE";
    Load "-4 -6 --ipv4 --ipv6" => "to choose the address, use `--resolve HOST:PORT:ADDRESS`";
    Http "-h2 --h2 --http2-prior-knowledge" => "for HTTP/2, use `--http2`";
    Http "--http1.1 --http1.0 --h1" =>
        "HTTP/1.1 is the default; to request it explicitly, use `--http1`";
    Http "--http3 --h3" => "HTTP/3 is not supported; for HTTP/2, use --http2";
    Http "--http-version --alpn" => "for HTTP/2, use `--http2`; HTTP/1.1 is the default";
    Load "--qps --rps --rate-limit --requests-per-second --throughput" =>
        "to set the rate, use `-r {RATE}`";
    Load "--vus --vu --virtual-users" => "to set the number of users, use `-u {N}`";
    Load "--concurrency --clients --workers --max-workers --conns" =>
        "to set the concurrency, use `-c {N}`";
    Http "--host" => "to set the Host header, use `-H 'Host: {NAME}'`";
    Grpc "--host --cname --servername --server-name" =>
        "to set the server name, use `--authority {NAME}`";
    Http "--cookie --cookies" => "to send cookies, use `-H 'Cookie: {name=value}'`";
    Http "--form-string" => FORM;
    Load "--body-file --data-file --payload-file --body-path --upload-file" => BODY_FILE;
    Load "--body --payload --data-raw --data-binary --data-urlencode --data-ascii" =>
        "to set the body, use `-d {DATA}`, or -d @FILE to read it from a file";
    Load "--disable-keepalive --disable-keep-alive --no-keep-alive --keepalive" => KEEP_ALIVE;
    Http "--no-vu-connection-reuse --no-connection-reuse" => KEEP_ALIVE;
    Http "--disable-compression --gzip" => "bodies are compressed only with `--compressed`";
    Http "--redirect --redirects --max-redirects --max-redirs --follow" =>
        "to follow redirects, use `-L {N}`";
    Http "--disable-redirects --no-follow" => "redirects are followed only with -L N";
    Load "--output --out --output-format --format --summary-export" => RESULTS;
    Load "--no-color --disable-color --no-colour --monochrome" =>
        "for text without colour, use `--color never`";
    Load "--basic --basic-auth --auth --user" => CREDENTIALS;
    Load "--oauth2-bearer --bearer" => "to send a token, use `-H 'Authorization: Bearer …'`";
    Load "--max-time --time-limit --request-timeout --socket-timeout" => TIMEOUT;
    Http "--content-type" => "to set the content type, use `-H 'Content-Type: {TYPE}'`";
    Http "--accept" => "to set the Accept header, use `-H 'Accept: {TYPE}'`";
    Http "--user-agent" => "to set the user agent, use `-H 'User-Agent: {NAME}'`";
    Http "--referer" => "to set the referrer, use `-H 'Referer: {URL}'`";
    Load "--total --number --num-requests --max-requests" =>
        "to send exactly N requests, use `-n {N}`";
    Load "--time --run-time --test-duration --max-duration --seconds" =>
        "to set the duration, use `-z {10s}`";
    Load "--stages --stage --ramp --ramp-up --rampup --load-schedule --spawn-rate" => RAMP;
    Load "--insecure-skip-tls-verify --skip-tls-verify --skip-verify --no-verify" =>
        "to skip the verification of certificates, use `-k`";
    Grpc "--skipTLS --skip-tls" => "to skip the verification of certificates, use `-k`";
    Load "--ca --cafile --ca-cert --root-certs" =>
        "to set trusted certificates, use `--cacert {FILE}`";
    Load "--connect-to" => "to connect to another address, use `--resolve HOST:PORT:ADDRESS`";
    Load "--interface --local-ips --laddr" =>
        "to set the local address, use `--source-ip {ADDRESS}`";
    Load "--unix --sock" => "to connect to a Unix socket, use `--unix-socket {PATH}`";
    Http "--urls-from-file --targets --input-file --urls" => URL_LISTS;
    Http "--rand-regex-url" => "for varying URLs, use templates such as http://host/{{uuid}}";
    Load "--latency-correction --disable-latency-correction --latency --u_latency" =>
        "latencies are always shown; with -r, they are measured from when a request was due";
    Http "-l --latencies" => "latencies are always shown";
    Load "--script" =>
        "for varying values, use templates such as {{uuid}}, or JavaScript functions with `script:` in a plan";
    Load "--silent" => "to print only the result, use `-q`";
    Load "--cpus --cores" => "to set the number of worker threads, use `--threads {N}`";
    Http "--pipeline --pipelining" =>
        "pipelining is not supported; for concurrent requests on a connection, use --http2 with `--streams {N}`";
    Http "--proxy-header --proxy-user" => "for a proxy, use -x http://user:password@host:port";
    Http "-e" => "to set the referrer, use `-H 'Referer: {URL}'`";
    Http "-G --get" => "put query parameters in the URL";
    Http "-f --fail" => "to set the statuses that count as ok, use `--expect-status {200}`";
    Load "-j" => RESULTS;
    Http "--burst-delay --burst-rate" => BURSTS;
    Load "--compare" =>
        "to compare with a stored run, use `--baseline {RUN}`; to compare stored runs, use `drumfire compare`";
    Load "--name --tag" => "to tag a stored run, use `drumfire runs tag last {NAME}`";
    Load "--note" => "to write a note on a stored run, use `drumfire runs note last {TEXT}`";
    Load "--set" => "to set keys, use a plan: --print-plan prints one, and `drumfire run` runs it";
    Grpc "--rpc-header" => "to send metadata, use `-H {'key: value'}`";
    Grpc "--reflect-header" =>
        "to send metadata for reflection, use `--reflect-metadata {'key: value'}`";
    Grpc "--max-msg-sz --max-recv-message-size" =>
        "to set the maximum message size, use `--max-receive {SIZE}`";
    Grpc "--import-paths" => "to set the directory of imports, use `--import-path {FOLDER}`";
    Grpc "--method --rpc" => "to set the method, use `--call {package.Service/Method}`";
    Grpc "--stream-call-count" =>
        "to set the number of messages per call, use `--stream-count {N}`";
    Grpc "--stream-call-duration" =>
        "to set how long a stream sends, use `--stream-duration {TIME}`";
    Ws "-d --data --body --payload --text --execute --send" =>
        "to send a message, use `-m {TEXT}`; to set the duration, use -z";
    Ws "-b --binary-frames" => "to send binary messages, use `--binary`";
    Ws "-1 --one-message" => "to close a connection after its first message, use `--messages 1`";
    Ws "-M --messages-per-connection --num" =>
        "to close a connection after N messages, use `--messages {N}`";
    Ws "-E --exit-on-eof -w --time-to-wait" => "to end the test, use `-z {10s}` or -n";
    Ws "-s --protocol --ws-protocol" => "to offer a subprotocol, use `--subprotocol {NAME}`";
    Ws "--origin" => "to set the origin, use `-H 'Origin: {https://host}'`";
    Ws "-C --count --concurrent --connections-count -A --amount" =>
        "to set the number of connections, use `-c {N}`";
    Ws "--message-interval --interval-ms --delay" =>
        "to set the time between the messages of a connection, use `--every {1s}`";
    Ws "--message-rate --qps --rps" => "to set the rate, use `-r {RATE}`: messages with -m, or else connections";
    Ws "--no-close --listen-only" => "to receive for a time, use `--listen {10s}`";
    Llm "--request-rate --qps --rps --user-centric-rate" => "to set the rate, use `-r {RATE}`";
    Llm "--max-concurrency --concurrency --num-concurrent-requests --parallel --max-workers" =>
        "to set the number of requests at a time, use `-c {N}`";
    Llm "--num-prompts --request-count --max-requests --max-num-completed-requests --num-requests --number --conversation-num" =>
        "to set the number of requests, use `-n {N}`";
    Llm "--benchmark-duration --max-seconds --max-duration --test-duration" =>
        "to set the duration, use `-z {5s}`";
    Llm "--input-len --random-input-len --isl --synthetic-input-tokens-mean --mean-input-tokens --prompt-tokens --input-tokens" =>
        "to set the length of prompts, use `--input {1024}`";
    Llm "--output-len --random-output-len --osl --output-tokens-mean --mean-output-tokens --output-tokens --max-tokens" =>
        "to set the length of answers, use `--output {128}`";
    Llm "--random-range-ratio --isl-stddev --stddev-input-tokens --synthetic-input-tokens-stddev --stddev-output-tokens --output-tokens-stddev" =>
        "for lengths that vary, use a law: `--input normal:550,100`, or --output uniform:64,192";
    Llm "--random-prefix-len --prefix-repetition-prefix-len --shared-system-prompt-length --prompt-prefix-length" =>
        "for a beginning that prompts share, use `--prefix pool=1,tokens={256}`";
    Llm "--prefix-repetition-num-prefixes --prompt-prefix-pool-size --num-prefix-prompts" =>
        "for beginnings that prompts share, use `--prefix pool={10},tokens=256`";
    Llm "--url --base-url --target --host --port --llm-api-base" =>
        "pass the URL as an argument: http://HOST:8000";
    Llm "--endpoint" => "put the path in the URL: http://HOST:8000/v1/completions";
    Llm "--backend --endpoint-type --service-kind --request-type --llm-api" =>
        "to set the API, use `--api chat`, completions, responses, messages, embeddings or rerank";
    Llm "--served-model-name --model-names" => "to set the model, use `-m {MODEL}`";
    Llm "--lora-modules --lora" => "several models have weights: `-m base:3,adapter:1`";
    Llm "--tokenizer --tokenizer-mode --skip-tokenizer-init --processor" =>
        "leave it out: lengths are in words, and the server counts the tokens";
    Llm "--streaming" => "answers are streamed unless you use `--no-stream`";
    Llm "--goodput" => "for limits of good answers, use `--slo ttft=200ms,tpot=50ms`";
    Llm "--burstiness --vllm-burstiness --arrival-smoothness" =>
        "for arrivals in bursts, use `--arrivals gamma:{0.5}`";
    Llm "--arrival-pattern --request-rate-mode" => "to set how arrivals are spread, use `--arrivals {poisson}`";
    Llm "--rate-type --profile --sweep" =>
        "for a rate that changes, use a law: `-r 'line(1,20,60s)'`; for the maximum rate, use `drumfire capacity`";
    Llm "--dataset --dataset-name --dataset-path --input-file --custom-dataset-type" =>
        "made-up prompts are the default; for a file, use `--data FILE` with --format";
    Llm "--ignore-eos --min-tokens" => "for answers of an exact length, use `--exact-output`";
    Llm "--extra-body --extra-inputs --extra-request-body --additional-sampling-params --temperature --top-p --top-k --min-p" =>
        "to add members to each body, use --extra with a JSON object";
    Llm "--num-warmups --warmup-request-count --warmup-requests" =>
        "to leave the first part of a run out of the figures, use `--warmup {5s}`";
    Llm "--percentile-metrics --metric-percentiles" =>
        "for all percentiles, use `--json {FILE}`";
    Llm "--save-result --save-detailed --result-dir --result-filename --output-artifact-dir --output-path --output-dir --results-dir --export-level --profile-export-file" =>
        "for vLLM’s form of the result, use --vllm-json FILE; for every figure, --json FILE; for a row per request, --rows FILE";
    Llm "--conversation-turn-mean --num-turns --multi-turn-num-turns" =>
        "for sessions of several turns, use `--turns {4}`";
    Llm "--server-metrics" => "to read the server’s metrics, use `--metrics-from {URL}`";
    Llm "--random-seed" => "to set the seed, use `--seed {N}`";
    Run "--vus --vu --virtual-users --max-vus" => "to set the number of users, use `-u {N}`";
    Run "--rps --qps --rate-limit" => "to set the rate, use `-r {RATE}`";
    Run "-d -t --time --run-time" => "to set the duration, use `-z {TIME}`";
    Run "-i" => "to set the number of iterations, use `--iterations {N}`";
    Run "-s --stage --stages" => RAMP_OF_PLAN;
    Run "--out --output --summary-export" => RESULTS;
    Run "-e --env --var --variable --variables" => VARIABLE;
    Run "-v --verbose --debug --http-debug" => SHOWN;
    Run "--timeout --max-time --time-limit --request-timeout --socket-timeout" =>
        "to set the timeout of a request, use `--set defaults.timeout=5s`";
    Command "list ls ps status" =>
        "`drumfire ctl` lists active runs, `drumfire runs` lists stored runs";
    Command "stop kill pause scale" =>
        "to stop an active run, use `drumfire ctl RUN stop`; `drumfire ctl -h` lists its other commands";
    Command "validate lint verify" => "to validate a plan, use `drumfire check PLAN`";
    Command "show inspect" => "to print the results of a stored run, use `drumfire report RUN`";
    Command "diff" => "to compare stored runs, use `drumfire compare BASE CANDIDATE`";
    Command "search saturate breakpoint max" =>
        "to find the maximum rate that keeps objectives, use `drumfire capacity`";
    Command "attack autocannon bench bombardier curl fortio get h2load hey load oha vegeta wrk wrk2" =>
        "use `drumfire http` instead, and `drumfire http -h` to list its flags";
    Command "aiperf benchmark evalscope genai-perf guidellm inference-perf llmperf profile vllm-bench" =>
        "use `drumfire llm` instead, and `drumfire llm -h` to list its flags; `drumfire vllm bench serve` accepts the flags of vLLM";
    Command "artillery websocat wscat" =>
        "use `drumfire ws` for WebSockets or `drumfire http`, and `drumfire ws -h` to list its flags";
    Command "grpcurl" => "use `drumfire grpc` instead, and `drumfire grpc -h` to list its flags";
    Key "sleep wait delay" =>
        "write a pause as a step of a scenario: `- pause: 1s` or `- pause: 1s..2s`";
    Key "think_time thinktime thinkTime" =>
        "for a pause between a user's iterations, write `think: 1s`";
    Key "duration run_time" => "to end a load, write `stop: { after: 10s }`";
    Key "loop foreach" => "to repeat steps, write `repeat: 3`, with the steps in `do`";
    Key "q query params" => "write the query after the path, as in `get: /search?q=tea`";
    Key "insecure skip_verify" =>
        "to skip certificate verification, write `tls: { insecure: true }`";
    Key "setup teardown" => "`setup` and `teardown` belong at the top of the plan, for all pools";
    Key "path uri" => "write the path with its method, as in `get: /search`";
    Key "max_time maxtime request_timeout" => "to limit the time of a request, write `timeout: 5s`";
    Key "vus concurrency" => "write `users: 10`";
    Key "rps qps arrivalRate" => "write `rate: 100/s`";
    Key "stages" =>
        "for a load that changes, write a law: `rate: \"line(5,200,60s) const(200,5m)\"`";
    Key "assert assertions checks validate" =>
        "to check a response, write `expect: { status: 200 }`";
    Key "extract capture" => "to take a value from a response, write `take: { name: json $.id }`";
    Key "variables" => "write variables as `vars: { name: value }`, at the top of the plan";
    Key "env" =>
        "write variables as `vars: { name: value }`, and environment variables as ${env:NAME}";
};
