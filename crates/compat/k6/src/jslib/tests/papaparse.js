import { equal } from 'assert';
import papaparse from 'https://jslib.k6.io/papaparse/1.0.0/index.js';

const { parse, unparse } = papaparse;

equal(parse('a,b\n1,"x, ""y"""\r\n3,4', { header: true }).data, [{ a: '1', b: 'x, "y"' }, { a: '3', b: '4' }]);
equal(parse('a,b\n1,2\n').data, [['a', 'b'], ['1', '2'], ['']]);
equal(parse('a,b\n1,2\n\n', { skipEmptyLines: true }).data, [['a', 'b'], ['1', '2']]);
equal(parse('').data, []);
equal(parse('\ufeffa\tb\n1\t2').data[0], ['a', 'b'], 'the delimiter is found, and the mark of Unicode is left out');
equal(parse('a;b\n1;2').meta.delimiter, ';');
equal(parse('a,a\n1,2', { header: true }).data, [{ a: '1', a_1: '2' }]);
equal(parse('1,true,,x,-1.5e3', { dynamicTyping: true }).data, [[1, true, null, 'x', -1500]]);
equal(parse('n,t\n1,1', { header: true, dynamicTyping: { n: true } }).data, [{ n: 1, t: '1' }]);
equal(parse('#c\na\n#d\nb', { comments: '#' }).data, [['a'], ['b']]);
equal(parse('a\nb\nc', { preview: 2 }).data, [['a'], ['b']]);
equal(parse(' A ,b\n1,2', { header: true, transformHeader: (name) => name.trim().toLowerCase(), transform: (value) => `<${value}>` }).data, [{ a: '<1>', b: '<2>' }]);
equal(parse("a,'it''s'", { quoteChar: "'" }).data, [['a', "it's"]]);
equal(parse('"a\nb",c').data, [['a\nb', 'c']]);
const open = parse('a,"b');
equal([open.data, open.errors[0].code], [[['a', 'b']], 'MissingQuotes']);
const odd = parse('a,b\n1\n1,2,3', { header: true });
equal(odd.errors.map(({ code, row }) => [code, row]), [['TooFewFields', 0], ['TooManyFields', 1]]);
equal(odd.data[1].__parsed_extra, ['3']);

equal(unparse([{ a: 1, b: 'x,y' }, { a: '"', b: null }]), 'a,b\r\n1,"x,y"\r\n"""",');
equal(unparse({ fields: ['q'], data: [[1], [' s']] }, { newline: '\n' }), 'q\n1\n" s"');
// What is written reads as it was.
for (const cell of ['', 'a', ',', '"', '""', '\n', '\r\n', ' x', "'", 'ü,"\n"']) {
  const rows = [[cell, 'z'], ['q', cell]];
  equal(parse(unparse(rows), { delimiter: ',' }).data, rows, cell);
}
