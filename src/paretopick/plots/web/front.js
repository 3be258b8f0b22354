/* The front with a pointer and with keys: what is at a point. All texts were written in Python; nothing here is evaluated from
   strings, no request is made, and names become text nodes, never markup. Needs uPlot, ticks.js and drawing.js.

   Every element with data-pp-front that holds the static picture (class pp-static) and the record (a script element of the type
   application/json) is found by itself. With a record at hand, paretopick.front(element, record) does the same, and returns
   something with update(record). */
(function (ours) {
  "use strict";

  if (ours.front) return ours.findFronts(); // the script is on this page already

  const { draw, evenTicks, logTicks, numbers, outline, pairOf } = ours;

  const NEAR = 26; // pixels between a pointer and the point that it means
  const TOUCHED = 40; // the same for a finger
  const SAME = 4; // pixels between points that nobody can tell apart
  const LEAST_DRAG = 8; // pixels of a drag that is meant as one

  // ---- elements -------------------------------------------------------------------------------------------------------------

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function mark(kind, tone) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const attributes = { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true", class: "pp-mark" };
    for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
    path.setAttribute("d", outline(kind, 0, 0));
    path.setAttribute("fill", kind.filled ? tone(kind.colour) : "none");
    path.setAttribute("stroke", tone(kind.colour));
    path.setAttribute("stroke-width", kind.marker === "x" ? 1.6 : 1.2);
    svg.append(path);
    return svg;
  }

  // ---- light or dark: as what is behind it ------------------------------------------------------------------------------------

  function behind(element) {
    for (let one = element; one; one = one.parentElement || holderOf(one.ownerDocument.defaultView)) {
      const colour = one.ownerDocument.defaultView.getComputedStyle(one).backgroundColor;
      const [red, green, blue, alpha = 1] = (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
      const half = colour.startsWith("color(") ? 0.5 : 128; // color(srgb 1 1 1) or rgb(255, 255, 255)
      if (alpha > 0.5) return { colour, dark: 0.299 * red + 0.587 * green + 0.114 * blue < half };
    }
    const asked = /dark/.test(getComputedStyle(document.documentElement).colorScheme);
    const dark = asked && matchMedia("(prefers-color-scheme: dark)").matches;
    return { colour: dark ? "#121212" : "#ffffff", dark };
  }

  /* The frame that a window is in, if its page may know. */
  function holderOf(view) {
    try {
      return view.frameElement;
    } catch (_) {
      return null;
    }
  }

  function lighter(colour) {
    const parts = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
    return `rgb(${parts.map((part) => Math.round(part + 0.42 * (255 - part))).join(",")})`;
  }

  // ---- one front --------------------------------------------------------------------------------------------------------------

  function front(element, given) {
    const live = make("div", { class: "pp-live" });
    const legend = make("div", { class: "pp-legend" });
    const plotted = make("div", { class: "pp-plot", tabindex: "0", role: "application" });
    const canvas = make("div"), ring = make("div", { class: "pp-ring" }), card = make("div", { class: "pp-card" });
    const axes = { y: make("div", { class: "pp-axis pp-up" }), x: make("div", { class: "pp-axis pp-across" }) };
    const back = make("button", { type: "button", hidden: "" }, "Zoom out");
    const drawn = make("button", { type: "button", "aria-expanded": "false" });
    const hint = make("p", { class: "pp-hint" });
    const notes = make("p", { class: "pp-hint" });
    const said = make("div", { class: "pp-said", role: "status", "aria-live": "polite" });
    plotted.append(canvas, ring);
    live.append(legend, axes.y, plotted, axes.x, card, hint, notes, make("p", { class: "pp-tools" }, back, drawn), said);
    hint.append(
      make("span", { class: "pp-by-pointer" }, "Point at an option, or move with the arrow keys,"),
      make("span", { class: "pp-by-finger" }, "Tap an option"),
      " for its means with their 95% intervals",
      make("span", { class: "pp-by-pointer" }, "; drag to zoom in"),
      ".",
    );

    const frame = holderOf(window);
    const holder = frame && frame.classList.contains("pp-frame") ? frame.parentElement : element; // where the static picture is
    const state = { record: given, x: given.shown[0], y: given.shown[1], chosen: null, view: null, plot: null };

    const positionOf = (option) => ({
      left: state.plot.valToPos(option.means[state.x], "x"),
      top: state.plot.valToPos(option.means[state.y], "y"),
    });
    const size = () => {
      const width = Math.max(plotted.clientWidth, 200);
      return { width, height: Math.round(Math.min(Math.max(width * 0.66, 300), 480)) };
    };
    const endsOf = (axis) => (state.view ? state.view[axis] : state.pair[axis].ends);
    const inSight = () => {
      const { over } = state.plot;
      return state.pair.points
        .map((i) => ({ i, ...positionOf(state.record.options[i]) }))
        .filter(({ left, top }) => left >= -1 && top >= -1 && left <= over.clientWidth + 1 && top <= over.clientHeight + 1);
    };

    function dress() {
      const { colour, dark } = behind(holder.parentElement || holder);
      if (state.dark === dark && state.paper === colour) return false;
      Object.assign(state, { dark, paper: colour, tone: dark ? lighter : (one) => one });
      live.dataset.theme = dark ? "dark" : "light";
      live.style.setProperty("--pp-paper", colour);
      return true;
    }

    function label(axis) {
      const { name, details } = state.pair[axis], { metrics } = state.record;
      const parts = [make("span", { "aria-hidden": "true" }, axis === "y" ? "\u2191 " : "\u2192 ")];
      if (metrics.length > 2) {
        const select = make("select", { "aria-label": axis === "y" ? "metric upwards" : "metric from left to right" });
        metrics.forEach((metric, i) => select.append(make("option", { value: i }, metric.name)));
        select.value = state[axis];
        select.addEventListener("change", () => choose(axis, Number(select.value)));
        parts.push(select);
      } else parts.push(make("bdi", {}, name));
      if (details) parts.push(` (${details})`);
      const focused = axes[axis].contains(document.activeElement);
      axes[axis].replaceChildren(...parts);
      if (focused) axes[axis].querySelector("select").focus();
    }

    function choose(axis, metric) {
      const other = axis === "x" ? "y" : "x";
      if (state[other] === metric) state[other] = state[axis];
      state[axis] = metric;
      state.view = null;
      build();
    }

    function axisOf(axis, css) {
      const { log } = state.pair[axis], across = axis === "x";
      const length = (plot) => (across ? plot.bbox.width / 70 : plot.bbox.height / 38) / devicePixelRatio; // in ticks
      const room = (plot) => Math.max(Math.floor(length(plot)), 2);
      const lines = css.getPropertyValue("--pp-line").trim(), ink = css.getPropertyValue("--pp-muted").trim();
      return {
        scale: axis,
        font: "11px system-ui, sans-serif",
        stroke: ink,
        grid: { stroke: lines, width: 1 },
        ticks: { stroke: lines, width: 1, size: 4 },
        border: { show: true, stroke: ink, width: 1 },
        gap: 4,
        size: across ? 30 : (_, values) => 14 + 6.4 * Math.max(3, ...(values || []).map((text) => text.length)),
        splits: (plot, _, low, high) => (log ? logTicks(low, high, Math.min(room(plot), 9)) : evenTicks(low, high, room(plot))),
        filter: (_, splits) => splits,
        values: (_, splits) => numbers(splits),
      };
    }

    function build() {
      const { record } = state;
      state.pair = pairOf(record, state.x, state.y);
      dress();
      const { pair } = state, points = pair.points.map((i) => record.options[i].means).sort((a, b) => a[state.x] - b[state.x]);
      const scale = (axis) => ({ time: false, auto: false, distr: pair[axis].log ? 3 : 1, range: () => endsOf(axis) });
      if (state.plot) state.plot.destroy();
      label("x");
      label("y");
      legend.replaceChildren(...Object.entries(record.kinds).flatMap(([name, kind]) => {
        const n = pair.points.filter((i) => record.options[i].kind === name).length;
        return n ? [make("span", {}, mark(kind, state.tone), `${kind.label} (${n})`)] : [];
      }));
      notes.replaceChildren(...pair.notes.flatMap((note) => [note, " "]));
      plotted.setAttribute("aria-label", `${record.title}. Arrow keys move between options.`);
      drawn.textContent = record.metrics.length > 2 ? "All metrics in one picture" : "Static picture";
      const css = getComputedStyle(live);
      state.plot = new uPlot(
        {
          ...size(),
          padding: [10, 12, 0, 0],
          legend: { show: false },
          scales: { x: scale("x"), y: scale("y") },
          axes: [axisOf("x", css), axisOf("y", css)],
          series: [{}, { paths: () => null, points: { show: false } }],
          cursor: {
            x: false,
            y: false,
            points: { show: false },
            drag: { x: true, y: true, setScale: false },
            bind: { dblclick: () => zoomOut },
          },
          hooks: {
            draw: [(plot) => draw(state, plot)],
            setSelect: [zoomIn],
          },
        },
        [points.map((means) => means[state.x]), points.map((means) => means[state.y])],
        canvas,
      );
      const { over } = state.plot;
      over.addEventListener("pointermove", (event) => event.buttons || pick(event, NEAR));
      over.addEventListener("pointerdown", (event) => event.pointerType !== "mouse" && pick(event, TOUCHED));
      over.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show(null));
      back.hidden = !state.view;
      show(state.chosen);
    }

    function zoomIn(plot) {
      const { left, top, width, height } = plot.select;
      if (width < LEAST_DRAG || height < LEAST_DRAG) return;
      state.view = {
        x: [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")],
        y: [plot.posToVal(top + height, "y"), plot.posToVal(top, "y")],
      };
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      look();
    }

    function zoomOut() {
      state.view = null;
      look();
      return null;
    }

    function look() {
      state.plot.batch(() => {
        for (const axis of ["x", "y"]) {
          const [min, max] = endsOf(axis);
          state.plot.setScale(axis, { min, max });
        }
      });
      back.hidden = !state.view;
      show(state.chosen);
    }

    function pick(event, near) {
      const box = state.plot.over.getBoundingClientRect();
      const far = ({ left, top }) => Math.hypot(event.clientX - box.left - left, event.clientY - box.top - top);
      const [best] = inSight().map((point) => [far(point), point.i]).sort((a, b) => a[0] - b[0]);
      show(best && best[0] <= near ? best[1] : null);
    }

    /* Shows what there is to know of the option at this place of the record, or nothing. */
    function show(i) {
      const here = i === null ? undefined : inSight().find((point) => point.i === i);
      state.chosen = here ? i : null;
      ring.hidden = card.hidden = !here;
      if (!here) return;
      const option = state.record.options[i], { over } = state.plot;
      const also = inSight().filter((point) => point.i !== i && Math.hypot(point.left - here.left, point.top - here.top) < SAME);
      fill(option, also.map((point) => state.record.options[point.i].name));
      const left = over.offsetLeft + here.left, top = over.offsetTop + here.top;
      ring.style.transform = `translate(${left}px, ${top}px)`;
      const room = { left: plotted.clientWidth - card.offsetWidth, top: plotted.clientHeight - card.offsetHeight };
      const beside = here.left < over.clientWidth / 2 ? left + 18 : left - 18 - card.offsetWidth;
      card.style.left = `${plotted.offsetLeft + Math.max(0, Math.min(beside, room.left))}px`;
      card.style.top = `${plotted.offsetTop + Math.max(0, Math.min(top - card.offsetHeight / 2, room.top))}px`;
    }

    function fill(option, also) {
      const kind = state.record.kinds[option.kind], facts = make("dl");
      option.facts.forEach((text, i) => {
        if (text) facts.append(make("dt", { dir: "auto" }, state.record.headings[i]), make("dd", { dir: "auto" }, text));
      });
      const more = [option.more, also.length ? `At the same place: ${also.join(", ")}` : ""].filter(Boolean);
      card.replaceChildren(
        make("strong", { dir: "auto" }, option.name),
        make("div", { class: "pp-kind" }, mark(kind, state.tone), kind.label),
        facts,
        ...more.map((text) => make("p", { dir: "auto" }, text)),
      );
    }

    /* What is said to those who do not see it. */
    function say() {
      if (state.chosen === null) return;
      const { record } = state, option = record.options[state.chosen];
      const facts = option.facts.map((text, i) => text && `${record.headings[i]} ${text}`).filter(Boolean);
      said.textContent = [`${option.name}: ${record.kinds[option.kind].label}`, ...facts, option.more].filter(Boolean).join("; ");
    }

    function move(event) {
      const seen = inSight();
      if (!seen.length || event.altKey || event.ctrlKey || event.metaKey) return;
      const sideways = [...seen].sort((a, b) => a.left - b.left || a.top - b.top);
      const upwards = [...seen].sort((a, b) => b.top - a.top || a.left - b.left);
      const step = (order, by) => {
        const at = order.findIndex((point) => point.i === state.chosen);
        return (at < 0 ? seen[0] : order[Math.max(0, Math.min(order.length - 1, at + by))]).i;
      };
      const keys = {
        ArrowRight: () => step(sideways, 1),
        ArrowLeft: () => step(sideways, -1),
        ArrowUp: () => step(upwards, 1),
        ArrowDown: () => step(upwards, -1),
        Home: () => sideways[0].i,
        End: () => sideways[sideways.length - 1].i,
        Escape: () => (state.view && state.chosen === null ? zoomOut() : null),
      };
      if (!(event.key in keys)) return;
      event.preventDefault();
      show(keys[event.key]());
      say();
    }

    function fit() {
      if (!plotted.clientWidth) return;
      const { width, height } = size();
      if (dress()) build();
      else if (state.plot.width !== width || state.plot.height !== height) {
        state.plot.setSize({ width, height });
        show(state.chosen);
      }
      if (holder !== element) frame.style.height = `${Math.ceil(live.getBoundingClientRect().height)}px`;
    }

    element.prepend(live);
    if (holder !== element) holder.append(document.querySelector("style.pp-outside"));
    holder.dataset.live = "";
    try {
      build();
    } catch (problem) { // the static picture stays
      live.remove();
      delete holder.dataset.live;
      throw problem;
    }
    plotted.addEventListener("keydown", move);
    plotted.addEventListener("focus", () => {
      if (!plotted.matches(":focus-visible") || state.chosen !== null) return;
      const [first] = inSight();
      show(first ? first.i : null);
      say();
    });
    plotted.addEventListener("blur", () => show(null));
    back.addEventListener("click", zoomOut);
    const keep = (both) => {
      holder.toggleAttribute("data-both", both);
      drawn.setAttribute("aria-expanded", String(both));
    };
    drawn.hidden = !holder.querySelector(":scope > .pp-static");
    drawn.addEventListener("click", () => keep(!holder.hasAttribute("data-both")));
    keep(given.metrics.length > 2 && holder === element); // it has all of them; but outputs of cells are kept short
    live.addEventListener("pointerenter", fit);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);
    new ResizeObserver(fit).observe(live);
    fit();

    /* Shows another record of the same study; what was chosen stays so, by name. */
    function update(record) {
      const names = [state.x, state.y].map((place) => state.record.metrics[place].name);
      const found = names.map((name) => record.metrics.findIndex((metric) => metric.name === name));
      const [x, y] = found.includes(-1) ? record.shown : found;
      const before = state.chosen === null ? null : state.record.options[state.chosen].name;
      const chosen = record.options.findIndex((option) => option.name === before);
      Object.assign(state, { record, x, y, chosen: chosen < 0 ? null : chosen });
      build();
    }

    return { update };
  }

  function findFronts() {
    for (const element of document.querySelectorAll("[data-pp-front]")) {
      const record = element.querySelector(':scope > script[type="application/json"]');
      if (!record || element.dataset.found !== undefined) continue;
      element.dataset.found = "";
      try {
        front(element, JSON.parse(record.textContent));
      } catch (problem) {
        console.error(problem);
      }
    }
  }

  Object.assign(ours, { front, findFronts });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", findFronts);
  else findFronts();
})((window.paretopick = window.paretopick || {}));
