import http from 'k6/http';
import { sleep, check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c=new Trend('neg'), d=new Trend('ntime', true);
export default function () { http.get('http://127.0.0.1:18777/a'); sleep(9); c.add(-1.5); c.add(2); d.add(0.0009995); d.add(1234567.891); check(1, {p: ()=>__ITER%3==0}); }
