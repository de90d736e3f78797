// Functions for script.yaml. Random numbers depend on the seed and the request's number.

function name(user, iteration) {
  return `user-${user}-${iteration}`;
}

function login(name) {
  return { user: name, password: `${name}-pw` };
}

function sign(token, what) {
  return hmac_sha256('a shared secret', `${what}:${token}`);
}

function wish() {
  const product = 1 + Math.floor(Math.random() * 64);
  return Math.random() < 0.5 ? { product } : { product, count: 2 };
}

// Returns true if the response is right, or a text that explains what is wrong.
function isConsistent(response) {
  const { items, total } = JSON.parse(response.body);
  const sum = items.reduce((sum, item) => sum + item.price * item.count, 0);
  return sum === total || `the items cost ${sum}, and the total is ${total}`;
}

const total = (response) => JSON.parse(response.body).total;
