(function ($B) {
  "use strict";
  const number = (x) => Number(x.value ?? x); // of one of Python's floats, whole numbers or truths
  const list = (values) => $B.$list(Array.from(values, (x) => $B.fast_float(Math.fround(x))));
  // Numbers as single precision holds them: a list of Python's floats.
  function single(values) {
    return list(Array.from(values, number));
  }
  // The product of two matrices, n times k and k times m, each a list of its numbers in order.
  function product(a, b, n, k, m) {
    const [left, right] = [a, b].map((values) => Float64Array.from(values, number)),
      found = new Float64Array(n * m);
    for (let i = 0; i < n; i += 1)
      for (let j = 0; j < m; j += 1) {
        let added = 0;
        for (let at = 0; at < k; at += 1) added += left[i * k + at] * right[at * m + j];
        found[i * m + j] = added;
      }
    return list(found);
  }
  // 16-bit numbers in base64, the lower byte of each first.
  function of_halves(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
      found = [];
    for (let at = 0; at < bytes.length; at += 2) {
      const high = bytes[at + 1],
        power = (high >> 2) & 31,
        fraction = ((high & 3) << 8) | bytes[at];
      const size = power ? 2 ** (power - 25) * (1024 + fraction) : 2 ** -24 * fraction;
      found.push(high & 128 ? -size : size);
    }
    return list(found);
  }
  const offered = { single, product, of_halves };
  for (const name in offered) offered[name].ob_type = $B.builtin_function_or_method;
  $B.addToImported("single", offered);
})(__BRYTHON__);
