import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const N=['http_req_foo','http_reqs_x','http_req_failed_x','iteration_duration_x','a_b','ab','aB','AB','a1','A_b','a__b','zz','ZZ','b','a_c','data_received_q','data_sent_w','browser','grpc','wsx','browser_web_vitalx', 'vusx','group_durationx','checksx'].map(n=>{try{return new Counter(n)}catch(e){console.log(n+e);return {add(){}}}});
export const options = { scenarios: { default: { executor: 'per-vu-iterations' }, other: { executor: 'per-vu-iterations', exec:'other' } }, thresholds: {'vus_max{a:b}': ['value<1'], 'zz{b:c}':['count>1'], 'AB':['count>0'], 'a_b':['count>0'], ab:['count>0'], aB:['count>0'],'ab{z:z}':['count>0'] } };
export default function () {
  group('a', () => group('b', ()=>{ check(1,{x:()=>true}); }));
  N.forEach(n=>n.add(1));
}
export function other() {  group('o', () => { check(1,{x:()=>true}); }); N[6].add(2.5) }
