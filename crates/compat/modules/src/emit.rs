//! Writes the linked function.

use std::fmt::Write as _;

use crate::Linked;
use crate::error::LinkError;
use crate::graph::{ModuleGraph, Node};
use crate::module::{Edit, Kind, Label, Module};
use crate::names::{LinkedNames, quoted};
use crate::places::Places;
use crate::resolve::{NameMeaning, Uses};
use crate::scan::{Form, NameSpot};

/// Code under construction, with the places that it comes from.
#[derive(Default)]
struct Output {
    code: String,
    places: Places,
}

impl Output {
    /// The text of a module with its edits, on lines of its own.
    fn module(&mut self, at: usize, module: &Module, edits: Vec<Edit>) -> Result<(), LinkError> {
        let code = module.written.code();
        let mut edits = edits;
        edits.sort();
        let mut done = 0;
        self.code.push('\n');
        for edit in edits {
            let Some(kept) = code.get(done..edit.start) else {
                // Two edits of one place would be a mistake of this crate.
                let place = module.place(edit.start);
                return Err(LinkError::new(
                    Some(place),
                    "this statement cannot be linked",
                ));
            };
            self.copy(kept, at, done);
            // What stands in place of a name has the place of the name.
            self.places.copy(self.code.len(), at, edit.start, 0);
            self.code.push_str(&edit.text);
            done = edit.end;
        }
        self.copy(&code[done..], at, done);
        self.code.push('\n');
        Ok(())
    }

    fn copy(&mut self, text: &str, module: usize, source: usize) {
        self.places
            .copy(self.code.len(), module, source, text.len());
        self.code.push_str(text);
    }

    fn push(&mut self, text: &str) {
        self.code.push_str(text);
    }
}

pub(crate) fn emit(
    graph: ModuleGraph,
    uses: &Uses,
    names: &LinkedNames,
) -> Result<Linked, LinkError> {
    let mut output = Output::default();
    output.push("(function(){const {defineProperty,freeze}=Object,{toStringTag}=Symbol;");
    output.push(&common_code(names));
    common(&mut output, &graph, names)?;
    let is_async = graph.order.iter().any(|&at| graph.modules[at].awaits);
    let kind = if is_async {
        "async function"
    } else {
        "function"
    };
    let _ = write!(
        output.code,
        "return {kind}({}){{\"use strict\";",
        names.host
    );
    start(&mut output.code, &graph, uses, names);
    for &at in &graph.order {
        let module = &graph.modules[at];
        match module.kind {
            Kind::Ecma => output.module(at, module, edits(at, module, uses, names))?,
            Kind::Common => {
                let name = names.value(&NameMeaning::Exports(at));
                let _ = write!(output.code, "\nconst {name}={}({at});", names.load);
            }
        }
        output.push(";");
    }
    output.push("return{__proto__:null");
    for (name, meaning) in &uses.exports {
        // Written plainly, this one name would set the prototype.
        let key = match name.as_str() {
            "__proto__" => "[\"__proto__\"]".to_owned(),
            name => quoted(name),
        };
        let _ = write!(output.code, ",{key}:{}", names.value(meaning));
    }
    output.push("}}})()");
    let shared = graph.modules.iter().flat_map(|module| {
        module
            .shared
            .iter()
            .map(|(offset, path)| (module.place(*offset), path.clone()))
    });
    let shared = shared.collect();
    let Output { code, mut places } = output;
    let exports = uses.exports.iter().map(|(name, _)| name.clone()).collect();
    let hosts = graph.hosts.into_iter().map(|host| host.name).collect();
    places.finish(
        &code,
        graph
            .modules
            .into_iter()
            .map(|module| module.written)
            .collect(),
    );
    Ok(Linked {
        code,
        hosts,
        exports,
        is_async,
        shared,
        places,
    })
}

/// What all users share: a constant, and functions without state.
fn common_code(names: &LinkedNames) -> String {
    let LinkedNames {
        constant,
        name,
        namespace,
        loader,
        common,
        ..
    } = names;
    format!(
        "const {constant}=freeze({{}});\
         function {name}(f,value){{defineProperty(f,\"name\",{{value,configurable:true}})}}\
         function {namespace}(o){{defineProperty(o,toStringTag,{{value:\"Module\"}});return freeze(o)}}\
         function {loader}(host){{const done=[];return function load(at){{\
         if(done[at]===undefined){{const module=done[at]={{exports:{{}}}},[run,required]={common}[at];\
         run.call(module.exports,module,module.exports,function require(name){{\
         const to=required[name];\
         if(to===undefined)throw new Error(`require(\"${{name}}\") is not known before the run`);\
         return to<0?host[-1-to]:load(to)}})}}return done[at].exports}}}}"
    )
}

/// The functions of CommonJS modules, which are not strict, each with the numbers of what it requires:
/// modules from 0, host modules from -1 downwards.
fn common(output: &mut Output, graph: &ModuleGraph, names: &LinkedNames) -> Result<(), LinkError> {
    let _ = write!(output.code, "const {}={{", names.common);
    for (at, module) in graph.modules.iter().enumerate() {
        if module.kind == Kind::Ecma {
            continue;
        }
        let _ = write!(output.code, "{at}:[function(module,exports,require){{");
        output.module(at, module, module.edits.clone())?;
        output.push("},{__proto__:null");
        for (request, node) in module.requests.iter().zip(&graph.targets[at]) {
            let to = match *node {
                Node::Module(module) => module as i64,
                Node::Host(host) => -1 - host as i64,
            };
            let _ = write!(output.code, ",[{}]:{to}", quoted(&request.specifier));
        }
        output.push("}],");
    }
    output.push("};");
    Ok(())
}

/// What exists before the first module runs.
fn start(code: &mut String, graph: &ModuleGraph, uses: &Uses, names: &LinkedNames) {
    let host = &names.host;
    if graph
        .modules
        .iter()
        .any(|module| module.kind == Kind::Common)
    {
        let _ = write!(code, "const {}={}({host});", names.load, names.loader);
    }
    for (meaning, name) in names.made() {
        let _ = match meaning {
            NameMeaning::Host {
                host: of,
                name: export,
            } => {
                write!(code, "const {name}={host}[{of}][{}];", quoted(export))
            }
            NameMeaning::HostModule(of) => write!(code, "const {name}={host}[{of}];"),
            NameMeaning::Namespace(module) => {
                let _ = write!(code, "const {name}={}({{__proto__:null", names.namespace);
                for (export, meaning) in uses.namespaces.get(module).into_iter().flatten() {
                    let _ = write!(
                        code,
                        ",get {}(){{return {}}}",
                        quoted(export),
                        names.value(meaning)
                    );
                }
                write!(code, "}});")
            }
            _ => Ok(()),
        };
    }
    for (module, name) in &names.metas {
        let url = quoted(&graph.modules[*module].written.name);
        let _ = write!(code, "const {name}={{__proto__:null,url:{url}}};");
    }
    for &at in &graph.order {
        for (number, binding) in graph.modules[at].bindings.iter().enumerate() {
            let name = names.variable(at, number);
            if binding.label == Label::Function && !name.is_empty() && name != binding.name {
                let _ = write!(code, "{}({name},{});", names.name, quoted(&binding.name));
            }
        }
    }
}

/// The replacements in the text of a module.
fn edits(at: usize, module: &Module, uses: &Uses, names: &LinkedNames) -> Vec<Edit> {
    let mut edits = module.edits.clone();
    for (number, binding) in module.bindings.iter().enumerate() {
        let imported = uses.imports[at][number].as_ref();
        let value = imported.map_or_else(
            || names.variable(at, number).to_owned(),
            |is| names.value(is),
        );
        let assigned = match imported {
            Some(_) => format!("{}.{}", names.constant, binding.name),
            None => value.clone(),
        };
        for spot in binding.declared.iter().chain(&binding.used) {
            edits.extend(edit(*spot, &binding.name, &value, &assigned));
        }
        if let Label::Class(place) = binding.label
            && value != binding.name
        {
            let text = format!("static{{{}(this,{})}}", names.name, quoted(&binding.name));
            edits.push(Edit {
                start: place,
                end: place,
                text,
            });
        }
        if binding.name == "default"
            && let Some(named) = &module.default
        {
            let text = format!("{}{value}{}", named.before, named.after);
            edits.push(Edit {
                start: named.start,
                end: named.end,
                text,
            });
        }
    }
    if let Some(meta) = names.metas.get(&at) {
        edits.extend(module.metas.iter().map(|&(start, end)| Edit {
            start,
            end,
            text: meta.clone(),
        }));
    }
    edits
}

fn edit(spot: NameSpot, name: &str, value: &str, assigned: &str) -> Option<Edit> {
    let NameSpot { start, end, form } = spot;
    let (text, is_shorthand) = match form {
        Form::Plain => (value, false),
        Form::Shorthand => (value, true),
        Form::Write => (assigned, false),
        Form::WriteShorthand => (assigned, true),
    };
    let text = if is_shorthand {
        format!("{name}:{text}")
    } else {
        text.to_owned()
    };
    let unchanged = if is_shorthand {
        format!("{name}:{name}")
    } else {
        name.to_owned()
    };
    (text != unchanged).then_some(Edit { start, end, text })
}
