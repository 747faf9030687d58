(function ($B) {
  "use strict";
  // Numbers as single precision holds them: a list of Python's floats from one of floats, whole numbers and truths.
  function single(values) {
    const rounded = $B.$list([]);
    for (const x of values) rounded.push($B.fast_float(Math.fround(Number(x.value ?? x))));
    return rounded;
  }
  single.ob_type = $B.builtin_function_or_method;
  $B.addToImported("single", { single });
})(__BRYTHON__);
