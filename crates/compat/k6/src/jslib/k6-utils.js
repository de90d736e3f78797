// Helpers of load tests: random values, texts, and the stage of a scenario.

import { check as checkNow } from 'k6';
import exec from 'k6/execution';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A whole number from `min` to `max`, both included. */
export function randomIntBetween(min, max) {
  return min + Math.floor(Math.random() * (max - min + 1));
}

/** An element of a list. */
export function randomItem(list) {
  return list[randomIntBetween(0, list.length - 1)];
}

/** So many letters of a charset. */
export function randomString(length, charset = LETTERS) {
  let text = '';
  while (text.length < length) {
    text += charset[randomIntBetween(0, charset.length - 1)];
  }
  return text;
}

/** A random UUID of version 4; `secure` takes it from the system's source of randomness. */
export function uuidv4(secure = false) {
  if (secure) {
    return crypto.randomUUID();
  }
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const digit = randomIntBetween(0, 15);
    return (place === 'x' ? digit : (digit % 4) + 8).toString(16);
  });
}

/** The text between two others; `repeat` returns a list of all. */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let from = 0;
  for (;;) {
    const start = content.indexOf(left, from);
    const end = start < 0 ? -1 : content.indexOf(right, start + left.length);
    if (end < 0) {
      return repeat ? found : null;
    }
    const text = content.substring(start + left.length, end);
    if (!repeat) {
      return text;
    }
    found.push(text);
    from = end + right.length;
  }
}

/** Stages along a bell curve of four standard deviations, between a slow start and a slow end. */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const height = (stage) => {
    const deviation = (4 * stage) / numberOfStages - 2;
    return Math.exp((-deviation * deviation) / 2);
  };
  const heights = [];
  for (let stage = 0; stage <= numberOfStages; stage += 1) {
    heights.push(height(stage));
  }
  const peak = Math.max(...heights);
  const outer = `${Math.ceil(durationSeconds / 6)}s`;
  const inner = `${Math.ceil((4 * durationSeconds) / (6 * numberOfStages))}s`;
  const stages = heights.map((each, at) => ({
    duration: at === 0 ? outer : inner,
    target: Math.round((each * maxVus) / peak),
  }));
  stages.push({ duration: outer, target: 0 });
  return stages;
}

const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };

/** Milliseconds of a text such as `1d5h31m20s7ms`. */
export function parseDuration(text) {
  if (text === undefined || text === null || text.length < 1) {
    throw new Error('str is empty');
  }
  if (/^\d+(\.\d+)?$/.test(text)) {
    return Number(text);
  }
  const parts = String(text).match(/\d+(\.\d+)?(ms|[dhms])/g);
  if (!parts || parts.join('') !== String(text)) {
    throw new Error(`${text} is not a duration`);
  }
  const seen = {};
  return parts.reduce((sum, part) => {
    const [, number, unit] = /^([\d.]+)(\D+)$/.exec(part);
    if (seen[unit]) {
      throw new Error(`${unit} time unit is provided multiple times`);
    }
    seen[unit] = true;
    return sum + Number(number) * UNITS[unit];
  }, 0);
}

function stagesNow() {
  const scenario = exec.test.options.scenarios && exec.test.options.scenarios[exec.scenario.name];
  const stages = scenario && scenario.stages;
  if (!stages || stages.length === 0) {
    throw new Error(
      `only ramping-vus or ramping-arrival-rate supports stages, it is not possible to get a stage index on other executors.`,
    );
  }
  return { scenario, stages };
}

/** The number of the stage that the scenario is in, from 0. */
export function getCurrentStageIndex() {
  const { stages } = stagesNow();
  const passed = Date.now() - new Date(exec.scenario.startTime).getTime();
  let end = 0;
  for (let index = 0; index < stages.length; index += 1) {
    const { duration } = stages[index];
    end += typeof duration === 'number' ? duration : parseDuration(duration);
    if (passed < end) {
      return index;
    }
  }
  return stages.length - 1;
}

/** Tag the user's samples with the number of the stage. */
export function tagWithCurrentStageIndex() {
  exec.vu.tags.stage = getCurrentStageIndex();
}

/** Tag the user's samples with `ramp-up`, `steady` or `ramp-down`. */
export function tagWithCurrentStageProfile() {
  const { scenario, stages } = stagesNow();
  const index = getCurrentStageIndex();
  const start = scenario.startVUs === undefined || scenario.startVUs === null ? scenario.startRate : scenario.startVUs;
  const before = Number(index === 0 ? start || 0 : stages[index - 1].target);
  const after = Number(stages[index].target);
  let profile = 'steady';
  if (after > before) {
    profile = 'ramp-up';
  } else if (after < before) {
    profile = 'ramp-down';
  }
  exec.vu.tags.stage_profile = profile;
}

const isPromise = (value) => value !== null && typeof value === 'object' && typeof value.then === 'function';

/** As the check of k6, and for conditions that are promises or async functions, too. */
export function check(value, sets, tags) {
  const settled = {};
  const waiting = [];
  for (const [name, condition] of Object.entries(sets)) {
    let result = condition;
    if (typeof condition === 'function') {
      try {
        result = condition(value);
      } catch (error) {
        result = () => {
          throw error;
        };
      }
    }
    settled[name] = result;
    if (isPromise(result)) {
      waiting.push(result.then((outcome) => { settled[name] = outcome; }));
    }
  }
  if (waiting.length === 0) {
    return checkNow(value, settled, tags);
  }
  return Promise.all(waiting).then(() => checkNow(value, settled, tags));
}
