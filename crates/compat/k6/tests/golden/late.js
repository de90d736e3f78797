import { check, group, sleep } from 'k6';
export const options = { thresholds: { checks: ['rate>0.5', 'rate<=1'], 'checks{group:::a}': ['rate==1'] , 'checks{nope:1}': ['rate==1'] } };
export default function () { check(1,{ok:()=>true}) }
export function teardown() { group('late', () => { check(1,{a:()=>true, b:()=>false}) }) }
