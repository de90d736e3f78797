// What a script finds beside the language. Returns the function that sets time and randomness
// before each call; scripts can't reach it.
(() => {
  "use strict";
  const RealDate = Date;
  const { construct } = Reflect;
  let now = 0;
  let a = 0, b = 0, c = 0, d = 0;

  const FixedDate = function Date(...given) {
    const date = construct(RealDate, given.length ? given : [now], new.target || FixedDate);
    return new.target ? date : date.toString();
  };
  FixedDate.prototype = RealDate.prototype;
  FixedDate.UTC = RealDate.UTC;
  FixedDate.parse = RealDate.parse;
  FixedDate.now = () => now;
  RealDate.prototype.constructor = FixedDate;
  globalThis.Date = FixedDate;

  // sfc32 of PractRand: small, and good enough for test data.
  Math.random = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };

  return (milliseconds, w, x, y, z) => {
    now = milliseconds;
    a = w | 0; b = x | 0; c = y | 0; d = z | 0;
  };
})()
