import { equal, throws } from 'assert';
import {
  check, findBetween, getCurrentStageIndex, normalDistributionStages, parseDuration, randomIntBetween, randomItem,
  randomString, tagWithCurrentStageIndex, tagWithCurrentStageProfile, uuidv4,
} from 'https://jslib.k6.io/k6-utils/1.0.0/index.js';

const seen = new Set();
for (let round = 0; round < 500; round += 1) {
  seen.add(randomIntBetween(-1, 2));
  equal(['a', 'b'].includes(randomItem(['a', 'b'])), true);
}
equal([...seen].sort(), [-1, 0, 1, 2].sort());
equal(/^[a-z]{40}$/.test(randomString(40)), true);
equal(/^[xy]{9}$/.test(randomString(9, 'xy')), true);
equal(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuidv4()), true);
equal(uuidv4(true), '01234567-89ab-4def-8123-456789abcdef');

equal(findBetween('<b>x</b><b>y</b>', '<b>', '</b>'), 'x');
equal(findBetween('<b>x</b><b>y</b>', '<b>', '</b>', true), ['x', 'y']);
equal(findBetween('none', '<b>', '</b>'), null);
equal(findBetween('<b>open', '<b>', '</b>', true), []);

for (const [text, milliseconds] of [['10s', 10000], ['1d5h31m20s7ms', 106280007], ['1.5h', 5400000], ['500ms', 500]]) {
  equal(parseDuration(text), milliseconds, text);
}
throws(() => parseDuration(''), 'empty');
throws(() => parseDuration('1x'), '1x is not a duration');
throws(() => parseDuration('1s1s'), 'multiple times');

const bell = normalDistributionStages(100, 60, 4);
equal(bell.map(({ target }) => target), [14, 61, 100, 61, 14, 0]);
equal(bell.map(({ duration }) => duration), ['10s', '10s', '10s', '10s', '10s', '10s']);
equal(normalDistributionStages(10, 20).length, 12);

const { execution } = globalThis;
throws(getCurrentStageIndex, 'only ramping-vus or ramping-arrival-rate supports stages');
execution.test.options.scenarios.one = {
  startVUs: 3,
  stages: [{ duration: '10s', target: 5 }, { duration: '1m', target: 5 }, { duration: 1000, target: 0 }],
};
for (const [passed, index, profile] of [[0, 0, 'ramp-up'], [9000, 0, 'ramp-up'], [20000, 1, 'steady'], [70500, 2, 'ramp-down'], [99000, 2, 'ramp-down']]) {
  execution.scenario.startTime = Date.now() - passed;
  equal(getCurrentStageIndex(), index, `${passed}`);
  tagWithCurrentStageIndex();
  tagWithCurrentStageProfile();
  equal(execution.vu.tags, { stage: index, stage_profile: profile });
}

equal(check(4, { even: (value) => value % 2 === 0, big: false }, { k: 'v' }), false);
equal(globalThis.checks.map(({ name, result }) => [name, result]), [['even', true], ['big', false]]);
const later = check(4, { 'waits': async (value) => value === 4, 'promise': Promise.resolve(true) });
equal(typeof later.then, 'function');
equal(await later, true);
equal(globalThis.checks.length, 4);
