import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const N=['http_foo','browser_x','browser_web_vital_x','web_vital_y','grpc_x','webvital_z','data_x','vus_x','iteration_x','iterations_y','dropped_iterations_x','checks_x','group_duration_x','ws_z','httpx','Zed'].map(n=>new Counter(n));
export const options = { scenarios: { only: { executor: 'per-vu-iterations' } }, thresholds: { http_req_waiting: ['p(95)<1000','p(99.9)<1','med<2'], 'group_duration': ['avg<100'], 'http_req_receiving{group:::a::b}': ['avg<10'], 'vus':['value>0'], 'data_sent':['count>1','rate>1'], 'http_reqs{scenario:only}':['count>1'] , 'iterations':['rate>1'], ws_sessions: ['count>0'], ws_ping:['p(95)<1'], 'http_reqs{zz:1}':['count>=0'], 'http_req_waiting{zz:1}':['max<1']} };
export function setup() { http.get('http://127.0.0.1:18777/404'); group('gs', () => { http.get('http://127.0.0.1:18777/404');check(1, { same: () => true });  }); return 'x'; }
export default function () {
  group('a', () => group('b', ()=>{ check(1,{x:()=>false}); group('c', () => group('d', () => { http.get('http://127.0.0.1:18777/404'); check(1, { 'deep': () => false, other:()=>true })}))}));
  N.forEach(n=>n.add(1));
}
export function handleSummary(data) { return { stdout: JSON.stringify(data, null, 1) }; }
