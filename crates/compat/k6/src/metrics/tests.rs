use drumfire_units::Nanos;
use proptest::prelude::*;

use super::*;
use crate::options::{Layer, Options};

fn judged(registry: &mut Registry, thresholds: &str) -> Result<(), MetricError> {
    let text = format!(r#"{{"thresholds":{thresholds}}}"#);
    let options = serde_json::from_str(&text).expect("JSON");
    let options = Options::consolidate(&[(Layer::Script, options)]).expect("options");
    registry.judge_by(&options.thresholds)
}

fn add(registry: &mut Registry, metric: &str, value: f64, tags: &[(&str, &str)]) {
    let tags = tags.iter().copied().collect();
    let sample = Sample {
        metric: registry.id(metric).expect("a metric"),
        time: Nanos(0),
        value,
        tags: &tags,
        metadata: &Tags::default(),
    };
    registry.add(&sample);
}

#[test]
fn names_of_metrics() {
    let mut registry = Registry::new(Detail::Run);
    let id = registry
        .declare("orders", Kind::Counter, Contains::Default)
        .expect("a metric");
    assert_eq!(
        registry.declare("orders", Kind::Counter, Contains::Default),
        Ok(id)
    );
    for (name, kind, message) in [
        (
            "orders",
            Kind::Gauge,
            "metric `orders` exists as a counter of default values; give the new one another name",
        ),
        (
            "http_reqs",
            Kind::Rate,
            "metric `http_reqs` exists as a counter of default values; give the new one another name",
        ),
        (
            "a",
            Kind::Counter,
            "invalid metric name `a`; use 2 to 128 letters, digits or `_`, and no digit first",
        ),
        (
            "1a",
            Kind::Counter,
            "invalid metric name `1a`; use 2 to 128 letters, digits or `_`, and no digit first",
        ),
        (
            "a-b",
            Kind::Counter,
            "invalid metric name `a-b`; use 2 to 128 letters, digits or `_`, and no digit first",
        ),
    ] {
        assert_eq!(
            registry.declare(name, kind, Contains::Default),
            Err(MetricError(message.to_owned()))
        );
    }
    assert!(
        registry
            .declare(&"x".repeat(128), Kind::Trend, Contains::Time)
            .is_ok()
    );
    assert!(
        registry
            .declare(&"x".repeat(129), Kind::Trend, Contains::Time)
            .is_err()
    );
}

#[test]
fn thresholds_need_a_metric_with_their_method() {
    let mut registry = Registry::new(Detail::Run);
    let unknown =
        judged(&mut registry, r#"{"nosuch":["count>1"]}"#).expect_err("an unknown metric");
    assert!(
        unknown
            .0
            .starts_with("no metric \"nosuch\" exists; known: checks, data_received, "),
        "{unknown}"
    );
    let wrong = judged(&mut registry, r#"{"checks":["p(95)<1"]}"#);
    let message = "threshold `p(95)<1` does not fit `checks`: a rate has rate";
    assert_eq!(wrong, Err(MetricError(message.to_owned())));
}

#[test]
fn samples_are_counted_in_each_part_that_selects_them() {
    let mut registry = Registry::new(Detail::Run);
    judged(
        &mut registry,
        r#"{"http_reqs{name:A,status:200}":["count>1"],"http_reqs{group:::a::b}":["count>0"]}"#,
    )
    .expect("thresholds");
    for (status, group) in [("200", "::a::b"), ("200", ""), ("404", "::a::b")] {
        add(
            &mut registry,
            "http_reqs",
            1.0,
            &[("name", "A"), ("status", status), ("group", group)],
        );
    }
    let id = registry.id("http_reqs").expect("a metric");
    let metric = registry.metric(id);
    assert_eq!(metric.total.sink, Sink::Counter(3.0));
    let parts: Vec<_> = metric.parts.iter().map(|(_, part)| &part.sink).collect();
    assert_eq!(parts, [&Sink::Counter(2.0), &Sink::Counter(2.0)]);
}

#[test]
fn groups_and_scenarios_come_from_tags() {
    let mut registry = Registry::new(Detail::Sections);
    add(&mut registry, "http_reqs", 1.0, &[("group", "::setup")]);
    add(
        &mut registry,
        "checks",
        1.0,
        &[("group", "::a::b"), ("check", "x"), ("scenario", "one")],
    );
    add(
        &mut registry,
        "checks",
        0.0,
        &[("group", "::a"), ("check", "x"), ("scenario", "one")],
    );
    add(
        &mut registry,
        "group_duration",
        4.0,
        &[("group", "::c"), ("scenario", "default")],
    );
    let run = registry.run();
    assert_eq!(
        run.checks,
        [Check {
            name: "x".to_owned(),
            passes: 1,
            fails: 1
        }]
    );
    let names: Vec<&str> = run
        .root
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["a", "c"], "requests of setup make no group");
    assert_eq!(run.root.groups[0].groups[0].checks[0].passes, 1);
    let [(name, one)] = registry.scenarios() else {
        panic!("{:?}", registry.scenarios())
    };
    assert_eq!(
        (name.as_str(), one.metrics.len(), one.root.groups.len()),
        ("one", 1, 1)
    );
    assert_eq!(registry.unnamed().root.groups[0].name, "c");
}

#[test]
fn names_that_a_script_makes_are_limited() {
    let mut registry = Registry::new(Detail::Sections);
    for at in 0..1100 {
        let (check, group) = (format!("check {at}"), format!("::{at}"));
        add(
            &mut registry,
            "checks",
            1.0,
            &[("group", &group), ("check", &check), ("scenario", &check)],
        );
    }
    let deep = "::x".repeat(40);
    add(&mut registry, "group_duration", 1.0, &[("group", &deep)]);
    assert_eq!(
        (
            registry.run().checks.len(),
            registry.run().root.groups.len()
        ),
        (1000, 1000)
    );
    assert_eq!(
        (registry.scenarios().len(), registry.left_out()),
        (1000, 101)
    );
    let id = registry.id("checks").expect("a metric");
    assert_eq!(
        registry.metric(id).total.sink,
        Sink::Rate {
            passes: 1100,
            total: 1100
        }
    );
}

proptest! {
    /// Samples that two threads count are those of one thread, whichever counts which.
    #[test]
    fn threads_add_up(samples in prop::collection::vec((0_usize..4, 0_usize..3, any::<bool>(), any::<bool>()), 0..60)) {
        let mut registries = [(); 3].map(|()| Registry::new(Detail::Sections));
        // A metric of the script has another place in another thread.
        registries[1].declare("other", Kind::Rate, Contains::Default).expect("a metric");
        for registry in &mut registries {
            registry.declare("own", Kind::Trend, Contains::Time).expect("a metric");
        }
        let [whole, one, other] = &mut registries;
        for (group, scenario, passed, is_first) in samples {
            let group = ["", "::a", "::a::b", "::setup"][group];
            let tags = [("group", group), ("scenario", ["one", "two", "default"][scenario]), ("check", group)];
            let part = if is_first { &mut *one } else { &mut *other };
            for registry in [&mut *whole, part] {
                add(registry, "checks", f64::from(u8::from(passed)), &tags);
                add(registry, "own", 1.5, &tags);
            }
        }
        one.absorb(other).expect("metrics of the same kinds");
        for metric in whole.metrics() {
            let id = one.id(&metric.name).expect("a metric");
            prop_assert_eq!(one.metric(id), metric);
        }
        let sorted = |section: &Section| {
            let mut checks = section.checks.clone();
            checks.sort_by(|one, other| one.name.cmp(&other.name));
            checks
        };
        prop_assert_eq!(sorted(one.run()), sorted(whole.run()));
        prop_assert_eq!(one.scenarios().len(), whole.scenarios().len());
        for (name, section) in whole.scenarios() {
            let (_, own) = one.scenarios().iter().find(|(own, _)| own == name).expect("a scenario");
            prop_assert_eq!(sorted(own), sorted(section));
            prop_assert_eq!(own.metrics.len(), section.metrics.len());
        }
    }

    /// The values of the groups and of what is in none add up to the run's.
    #[test]
    fn groups_add_up(samples in prop::collection::vec((0_usize..4, 0_usize..3, 0_u32..9), 0..60)) {
        const GROUPS: [&str; 4] = ["", "::a", "::a::b", "::c"];
        const SCENARIOS: [&str; 3] = ["one", "two", "default"];
        fn sum(group: &Group, id: MetricId) -> f64 {
            let own = match group.metrics.get(&id) {
                Some(Sink::Counter(sum)) => *sum,
                _ => 0.0,
            };
            own + group.groups.iter().map(|group| sum(group, id)).sum::<f64>()
        }
        let mut registry = Registry::new(Detail::Sections);
        let mut total = 0.0;
        for (group, scenario, value) in samples {
            total += f64::from(value);
            let tags = [("group", GROUPS[group]), ("scenario", SCENARIOS[scenario])];
            add(&mut registry, "http_reqs", f64::from(value), &tags);
        }
        let id = registry.id("http_reqs").expect("a metric");
        let parts = registry.scenarios().iter().map(|(_, section)| section).chain([registry.unnamed()]);
        prop_assert_eq!(parts.map(|section| sum(&section.root, id)).sum::<f64>(), total);
        prop_assert_eq!(&registry.metric(id).total.sink, &Sink::Counter(total));
    }
}
