/* Ticks and the numbers beside them, as ticks.py and texts.py have them for the static picture. */
(function (ours) {
  "use strict";

  const STEPS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 5, 7], [1, 2.5, 5], [1, 3], [1]]; // from many to few

  function logTicks(low, high, most) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const ways = STEPS.map((steps) => powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`))));
    for (let apart = 2; apart < powers.length / 2; apart++) {
      ways.push(powers.filter((power) => power % apart === 0).map((power) => Number(`1e${power}`)));
    }
    let ticks = [];
    for (const way of ways) {
      ticks = way.filter((tick) => tick >= low && tick <= high);
      if (ticks.length <= most) break;
    }
    const even = ticks.length > 3 || high > 10 * low ? [] : evenTicks(low, high, most);
    return even.length > ticks.length ? even : ticks;
  }

  function evenTicks(low, high, most) {
    const power = Math.floor(Math.log10(high - low)) - 1;
    for (const more of [0, 1, 2]) {
      for (const size of [1, 2, 5]) {
        const step = Number(`${size}e${power + more}`);
        if ((high - low) / step > most) continue;
        const start = Math.ceil(low / step), n = Math.floor(high / step) - start + 1;
        return Array.from({ length: Math.max(n, 0) }, (_, i) => Number(((start + i) * step).toPrecision(12)));
      }
    }
    return [];
  }

  /* Numbers with as many digits as it takes to tell them apart, the same for all; with powers of ten if they are long. */
  function numbers(values) {
    const levels = [...new Set(values)].sort((a, b) => a - b);
    const largest = Math.max(...levels.map(Math.abs)), read = (text) => Number(text.replaceAll(",", ""));
    const apart = Math.min(...(levels.length > 1 ? levels.slice(1).map((level, i) => level - levels[i]) : [largest]));
    const tolerance = Math.max(apart / 100, 1e-14 * largest);
    const [plain, powers] = [
      (value, digits) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
      (value, digits) => value.toExponential(digits).replace("e+", "e"),
    ].map((format) => {
      let texts = [];
      for (let digits = 0; digits <= 16; digits++) {
        texts = values.map((value) => format(value + 0, digits));
        if (texts.every((text, i) => Math.abs(read(text) - values[i]) <= tolerance)) break;
      }
      return texts.map((text) => (read(text) === 0 && /e/.test(text) ? "0" : text.replaceAll("-", "\u2212")));
    });
    const [wide, short] = [plain, powers].map((texts) => Math.max(0, ...texts.map((text) => text.length)));
    return wide > 9 && short < wide ? powers : plain;
  }

  Object.assign(ours, { logTicks, evenTicks, numbers });
})((window.paretopick = window.paretopick || {}));
