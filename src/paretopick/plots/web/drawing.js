/* Draws a front onto the canvas of uPlot, which has drawn the axes: limits, stairs, margins, 95% regions, points and names. */
(function (ours) {
  "use strict";

  const HALF = (0.6 * 96) / 72; // of the width of a mark, in pixels by points; matplotlib's are a little smaller
  const CORNERS = 60; // of an ellipse

  /* The outline of the mark of a kind, in the shapes of matplotlib, on a canvas with so many pixels for each of the page. */
  function outline({ marker, size }, x, y, ratio = 1) {
    const r = HALF * size * ratio;
    const lines = (points) => "M" + points.map(([a, b]) => `${x + a * r},${y + b * r}`).join("L");
    if (marker === "D") return lines([[0, -1.41], [1.41, 0], [0, 1.41], [-1.41, 0]]) + "Z";
    if (marker === "s") return lines([[-1, -1], [1, -1], [1, 1], [-1, 1]]) + "Z";
    if (marker === "x") return lines([[-1, -1], [1, 1]]) + lines([[-1, 1], [1, -1]]);
    if (marker === "X") {
      const arm = [[0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0]];
      const turns = [([a, b]) => [a, b], ([a, b]) => [-b, a], ([a, b]) => [-a, -b], ([a, b]) => [b, -a]];
      return lines(turns.flatMap((turn) => arm.map(turn))) + "Z";
    }
    return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
  }

  /* What there is of two metrics, by their places; records have each pair once. */
  function pairOf(record, x, y) {
    const found = record.pairs[`${Math.min(x, y)} ${Math.max(x, y)}`];
    if (x < y) return found;
    const turned = (corners) => [corners[1], corners[0]];
    return { ...found, x: found.y, y: found.x, stairs: turned(found.stairs), band: turned(found.band) };
  }

  /* The 95% region of a pair of means, in the units of the metrics: an ellipse of what is compared (as in fronts.py). */
  function regionOf(record, option, x, y) {
    const logs = [record.metrics[x].log, record.metrics[y].log];
    const errors = [option.errors[x], option.errors[y]];
    const correlation = record.correlation ? record.correlation[x][y] : 0;
    const radius = errors[0] && errors[1] ? record.radius : record.normal;
    const centre = [option.means[x], option.means[y]].map((mean, i) => (logs[i] ? Math.log(mean) : mean));
    return Array.from({ length: CORNERS + 1 }, (_, i) => {
      const angle = (2 * Math.PI * i) / CORNERS, u = Math.cos(angle), v = Math.sin(angle);
      const corner = [
        centre[0] + radius * errors[0] * u,
        centre[1] + radius * errors[1] * (correlation * u + Math.sqrt(1 - correlation ** 2) * v),
      ];
      return corner.map((value, j) => (logs[j] ? Math.exp(value) : value));
    });
  }

  function draw(state, plot) {
    const { record, pair, tone } = state, context = plot.ctx, ratio = devicePixelRatio, box = plot.bbox;
    const place = (value, axis) => plot.valToPos(pair[axis].log ? Math.max(value, pair[axis].ends[0]) : value, axis, true);
    const trace = (corners) => {
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(place(x, "x"), place(y, "y"));
    };
    const filled = (alpha, colour) => {
      context.globalAlpha = alpha;
      context.fillStyle = colour;
      context.fill();
    };
    const stroked = (alpha, width, colour) => {
      context.globalAlpha = alpha;
      context.lineWidth = width * ratio;
      context.strokeStyle = colour;
      context.stroke();
    };
    const corners = (rows) => rows[0].map((x, i) => [x, rows[1][i]]);
    const front = tone(record.colours.front), limit = tone(record.colours.limit);
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    trace(corners(pair.stairs));
    filled(state.dark ? 0.09 : 0.045, front);
    for (const [axis, other] of [["x", "y"], ["y", "x"]]) {
      const { forbidden } = pair[axis];
      if (!forbidden) continue;
      const points = (value, end) => (axis === "x" ? [value, pair[other].ends[end]] : [pair[other].ends[end], value]);
      const [low, high] = forbidden.span;
      trace([points(low, 0), points(high, 0), points(high, 1), points(low, 1)]);
      filled(state.dark ? 0.16 : 0.09, limit);
      if (forbidden.in_sight) {
        trace([points(forbidden.limit, 0), points(forbidden.limit, 1)]);
        stroked(0.9, 1.2, limit);
      }
    }
    trace(corners(pair.band));
    filled(state.dark ? 0.2 : 0.13, front);
    trace(corners(pair.stairs).slice(1, -1));
    context.setLineDash(record.settled ? [] : [5 * ratio, 4 * ratio]);
    stroked(0.7, 1.2, front);
    context.setLineDash([]);
    pair.points.forEach((i, rank) => {
      if (!pair.regions[rank]) return;
      const option = record.options[i], colour = tone(record.kinds[option.kind].colour), strong = option.in_answer;
      const flat = !option.errors[state.x] || !option.errors[state.y];
      trace(regionOf(record, option, state.x, state.y));
      filled(strong ? 0.14 : 0.07, colour);
      stroked(flat ? 0.9 : strong ? 0.6 : 0.3, flat ? 1.4 : 0.8, colour);
    });
    for (const i of [...pair.points].reverse()) { // the most interesting last, on top
      const option = record.options[i], kind = record.kinds[option.kind], colour = tone(kind.colour);
      const x = place(option.means[state.x], "x"), y = place(option.means[state.y], "y");
      const path = new Path2D(outline(kind, x, y, ratio));
      context.globalAlpha = kind.alpha;
      context.fillStyle = kind.filled ? colour : state.paper;
      if (kind.marker !== "x") context.fill(path);
      context.lineWidth = 1.2 * ratio;
      context.strokeStyle = colour;
      context.stroke(path);
    }
    if (pair.baseline !== null) {
      const { means } = record.options[pair.baseline];
      context.beginPath();
      context.arc(place(means[state.x], "x"), place(means[state.y], "y"), 9 * ratio, 0, 2 * Math.PI);
      stroked(1, 1.2, tone(record.colours.baseline));
    }
    context.globalAlpha = 1;
    write(state, plot, place);
    context.restore();
  }

  /* Writes limits along their lines, and names where there is room, in the order of the options: the most interesting first. */
  function write(state, plot, place) {
    const { record, pair, tone } = state, context = plot.ctx, ratio = devicePixelRatio, { left, top, width, height } = plot.bbox;
    const points = pair.points
      .map((i) => record.options[i].means)
      .map((means) => [place(means[state.x], "x"), place(means[state.y], "y")]);
    const taken = [], size = 11 * ratio, gap = 7 * ratio, radius = 5 * ratio;
    context.font = `${size}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const apart = ([a0, b0, a1, b1], [x0, y0, x1, y1]) => x1 <= a0 || x0 >= a1 || y1 <= b0 || y0 >= b1;
    const around = ([x, y]) => [x - radius, y - radius, x + radius, y + radius];
    const stairs = pair.stairs[0].slice(1, -1).map((x, i) => [x, pair.stairs[1][i + 1]]);
    const bars = pair.points
      .map((i, rank) => pair.regions[rank] && record.options[i])
      .filter((option) => option && !(option.errors[state.x] && option.errors[state.y]))
      .map((option) => regionOf(record, option, state.x, state.y));
    const lines = [...stairs.slice(1).map((corner, i) => [corner, stairs[i]]), ...bars].map((corners) => {
      const xs = corners.map(([x]) => place(x, "x")), ys = corners.map(([, y]) => place(y, "y"));
      return [Math.min(...xs) - 1, Math.min(...ys) - 1, Math.max(...xs) + 1, Math.max(...ys) + 1];
    });
    const free = (box, itself) =>
      box[0] >= left && box[1] >= top && box[2] <= left + width && box[3] <= top + height &&
      taken.every((other) => apart(other, box)) && points.every((point, i) => i === itself || apart(around(point), box));
    const put = (text, colour, places, itself) => {
      const wide = context.measureText(text).width, tall = size * 1.1;
      const boxes = places.map(([x, y, across, up]) => {
        const x0 = x + (across - 1) * wide * 0.5, y0 = y + (up - 1) * tall * 0.5;
        return [x0, y0, x0 + wide, y0 + tall];
      }).filter((box) => free(box, itself));
      const box = boxes.find((one) => lines.every((line) => apart(line, one))) || boxes[0];
      if (!box) return;
      taken.push(box);
      context.lineJoin = "round";
      context.lineWidth = 3 * ratio;
      context.strokeStyle = state.paper;
      context.strokeText(text, box[0], box[1] + tall / 2);
      context.fillStyle = colour;
      context.fillText(text, box[0], box[1] + tall / 2);
    };
    for (const axis of ["x", "y"]) {
      const { forbidden } = pair[axis];
      if (!forbidden) continue;
      const line = place(forbidden.in_sight ? forbidden.limit : (forbidden.span[0] + forbidden.span[1]) / 2, axis);
      const [start, length] = axis === "x" ? [top, height] : [left, width];
      const along = [0.02, 0.98, 0.5, 0.25, 0.75].map((share) => start + share * length);
      const sides = axis === "x" ? [1, -1] : [-1, 1];
      const places = along.flatMap((at, i) => sides.map((side) => {
        const beside = line + side * 4 * ratio, inward = i === 0 ? 1 : i === 1 ? -1 : 0;
        return axis === "x" ? [beside, at, side, inward] : [at, beside, inward, side];
      }));
      put(forbidden.text, tone(record.colours.limit), places, -1);
    }
    pair.tags.forEach((tag, rank) => {
      const option = record.options[pair.points[rank]], [x, y] = points[rank];
      const colour = tone(option.kind === "dominated" ? record.colours.dominated : record.kinds[option.kind].colour);
      const near = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]];
      put(tag, colour, near.map(([a, b]) => [x + a * gap * (b ? 0.7 : 1), y + b * gap * 1.1, a, b]), rank);
    });
  }

  Object.assign(ours, { outline, pairOf, regionOf, draw });
})((window.paretopick = window.paretopick || {}));
