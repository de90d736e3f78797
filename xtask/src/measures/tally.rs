//! The measures of one crate, or of several together.

use super::comments::Comments;
use crate::RustFile;
use crate::declarations::types;
use crate::file_length::LINES_MAX;
use crate::functions::function_lines;
use crate::impl_size::ImplSize;
use crate::type_size::FIELDS_MAX;

/// The inherent `impl` blocks of one type, counted together.
#[derive(Clone, Debug)]
pub(super) struct Impls {
    /// The file that declares the type.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) methods: usize,
    pub(super) lines: usize,
    pub(super) files: usize,
}

/// The measures of some files.
#[derive(Default)]
pub(super) struct Tally {
    /// The number of files that contain more than tests.
    pub(super) files: usize,
    /// The comment lines and code lines.
    pub(super) comments: Comments,
    /// The code lines of each function, unsorted.
    pub(super) functions: Vec<usize>,
    /// Types with too many fields: the name with its path, and the number of fields.
    pub(super) large_types: Vec<(String, usize)>,
    /// Types with an inherent `impl`.
    pub(super) impls: Vec<Impls>,
    /// Modules of one folder that use each other in a circle: the folder and their names.
    pub(super) circles: Vec<(String, Vec<String>)>,
    /// The number of fields that are visible beyond their module, but not beyond the crate.
    pub(super) visible_fields: usize,
    /// Files that are too long: the path, and the number of lines that are not tests.
    pub(super) long_files: Vec<(String, usize)>,
}

impl Tally {
    /// Adds a file, except for its comments. Returns the names of the types that it declares.
    pub(super) fn add_file<'a>(&mut self, file: &'a RustFile) -> Vec<&'a str> {
        self.files += 1;
        self.functions.extend(function_lines(file));
        let lines = file.product_lines();
        if lines > LINES_MAX {
            self.long_files.push((file.path.clone(), lines));
        }
        let types = types(file);
        for item in &types {
            self.visible_fields += item.visible_fields;
            if item.fields > FIELDS_MAX {
                let name = format!("`{}` in {}", item.name, file.path);
                self.large_types.push((name, item.fields));
            }
        }
        types.into_iter().map(|item| item.name).collect()
    }

    /// Adds a type's inherent `impl` blocks.
    pub(super) fn add_impls(&mut self, size: &ImplSize<'_>) {
        self.impls.push(Impls {
            path: format!("{}.rs", size.home),
            name: size.name.to_owned(),
            methods: size.methods,
            lines: size.lines,
            files: size.files,
        });
    }

    /// Adds a circle of modules in this folder.
    pub(super) fn add_circle(&mut self, folder: &str, ring: &[&str]) {
        let names = ring.iter().map(|name| (*name).to_owned()).collect();
        self.circles.push((folder.to_owned(), names));
    }

    /// Adds the counts of other files.
    pub(super) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.comments.add(&other.comments);
        self.functions.extend(&other.functions);
        self.large_types.extend(other.large_types.iter().cloned());
        self.impls.extend(other.impls.iter().cloned());
        self.circles.extend(other.circles.iter().cloned());
        self.visible_fields += other.visible_fields;
        self.long_files.extend(other.long_files.iter().cloned());
    }

    /// The maximum number of methods of a type; 0 if no type has an `impl`.
    pub(super) fn methods_max(&self) -> usize {
        let methods = self.impls.iter().map(|own| own.methods);
        methods.max().unwrap_or(0)
    }

    /// The types with the most methods, at most `count`.
    pub(super) fn largest_impls(&self, count: usize) -> Vec<&Impls> {
        let mut impls: Vec<&Impls> = self.impls.iter().collect();
        impls.sort_by_key(|own| std::cmp::Reverse((own.methods, own.lines)));
        impls.truncate(count);
        impls
    }

    /// The number of modules in circles.
    pub(super) fn modules_in_circles(&self) -> usize {
        self.circles.iter().map(|(_, ring)| ring.len()).sum()
    }

    /// The length that this percentage of the functions does not exceed.
    pub(super) fn function_quantile(&self, percent: usize) -> usize {
        let mut sorted = self.functions.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn quantiles_are_those_of_the_nearest_rank() {
        let of = |functions: Vec<usize>| {
            let tally = Tally {
                functions,
                ..Tally::default()
            };
            [50, 90, 99, 100].map(|percent| tally.function_quantile(percent))
        };
        assert_eq!(of(vec![]), [0, 0, 0, 0]);
        assert_eq!(of(vec![7]), [7, 7, 7, 7]);
        assert_eq!(of((1..=100).rev().collect()), [50, 90, 99, 100]);
        assert_eq!(of(vec![3, 1, 2]), [2, 3, 3, 3]);
    }
}
