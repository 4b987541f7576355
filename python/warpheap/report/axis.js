// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
"use strict";
// The y axis of a panel, and the x axis of a panel of bars, made anew when allocators are hidden. Ticks and texts are
// those of scale.py and numbers.py.
const warpheapAxis = (() => {
  const LARGE = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const UNITS = {
    us: [[1e6, "s"], [1e3, "ms"], [1, "\u00b5s"], [1e-3, "ns"]],
    bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  };

  function plain(value) {
    const most = value === 0 ? 0 : Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0), 20);
    return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: most });
  }
  function scaled(value, units) {
    for (const [size, name] of units) if (Math.abs(value) >= size * 0.9995) return `${plain(value / size)} ${name}`;
    const [size, name] = units.at(-1);
    return `${plain(value)} ${size <= 1 ? name : ""}`;
  }
  function show(value, unit) {
    if (UNITS[unit]) return scaled(value, UNITS[unit]);
    if (unit === "share") return `${plain(100 * value)} %`;
    if (unit === "ratio") return `${plain(value)}×`;
    if (unit === "%") return `${plain(value)} %`;
    return unit === "ops/s" ? `${scaled(value, LARGE)}/s` : scaled(value, LARGE).trim();
  }

  // A place on the x axis in words; `noun` is the axis' label, such as threads or warps.
  function placeText(x, unit, noun) {
    const number = x.toLocaleString("en");
    if (unit === "rounds") return `${noun} ${number}`;
    if (unit !== "bytes") return `${number} ${x === 1 ? noun.replace(/s$/, "") : noun}`;
    const names = ["B", "KiB", "MiB", "GiB"];
    const power = x > 0 ? Math.min(Math.floor(Math.log2(x) / 10), 3) : 0;
    return `${Number((x / 2 ** (10 * power)).toPrecision(4))} ${names[power]}`;
  }

  const range = (first, last) => Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
  function ticks({ low, high, log, unit }, most = 6) {
    if (log) {
      const inside = (value) => low <= value && value <= high;
      let found;
      if (unit === "bytes") {
        found = range(Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))).map((power) => 2 ** power);
      } else {
        const powers = range(Math.floor(Math.log10(low)) - 1, Math.ceil(Math.log10(high)));
        found = powers.map((power) => Number(`1e${power}`)).filter(inside);
        if (found.length < 3) {
          found = powers.flatMap((power) => [1, 2, 5].map((step) => Number(`${step}e${power}`))).filter(inside);
        }
      }
      const stride = Math.max(Math.ceil(found.length / most), 1);
      return found.filter((_, index) => index % stride === 0);
    }
    const size = unit === "bytes" ? 1024 ** Math.max(Math.floor(Math.log(Math.max(high, 1)) / Math.log(1024)), 0) : 1;
    const raw = (high - low) / size / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw * 0.999);
    return range(0, Math.floor((high - low) / size / step + 1e-9)).map((index) => low + step * index * size);
  }

  // An axis of the same kind with room for the values.
  function around(values, { log, unit }) {
    if (!log) {
      const most = Math.max(...values);
      return { low: 0, high: Math.max(most * 1.06, unit === "share" ? 1.02 : 0) || 1, log, unit };
    }
    const positive = values.filter((value) => value > 0);
    let low = Math.min(...positive), high = Math.max(...positive);
    if (high < 10 * low) {
      const middle = Math.sqrt(low * high);
      low = Math.min(low, middle / 3.2);
      high = Math.max(high, middle * 3.2);
    }
    const room = (high / low) ** 0.05;
    return { low: low / room, high: high * room, log, unit };
  }

  function axisOf(plot) {
    const [low, high, kind, unit] = plot.dataset.scale.split(" ");
    return { low: Number(low), high: Number(high), log: kind === "log", unit };
  }
  // Where a value lies in the picture, and which value lies at a place.
  function mapping({ low, high, log }, [top, bottom]) {
    const turn = log ? Math.log : (value) => value;
    const back = log ? Math.exp : (value) => value;
    return {
      place: (value) => bottom - (bottom - top) * (turn(log ? Math.max(value, 1e-12) : value) - turn(low)) / (turn(high) - turn(low)),
      value: (place) => back(turn(low) + (bottom - place) / (bottom - top) * (turn(high) - turn(low))),
    };
  }

  const first = new WeakMap();
  // What the server wrote, which each new axis begins from.
  function written(element, name) {
    if (!first.has(element)) first.set(element, element.getAttribute(name));
    return first.get(element);
  }
  const heightOf = (mark) => mark.hasAttribute("cy") ? "cy" : "y";

  // Redraws panels that share an axis, without the allocators whose numbers `hidden` has.
  function rescale(plots, hidden) {
    if (plots[0].dataset.scale.endsWith(" bars")) return rescaleBars(plots, hidden);
    const old = axisOf(plots[0]);
    const [left, right, ...span] = plots[0].dataset.box.split(" ").map(Number);
    const before = mapping(old, span);
    const measured = (mark) => mark.dataset.y ? Number(mark.dataset.y) : before.value(Number(written(mark, heightOf(mark))));
    const marksOf = (plot) => [...plot.querySelectorAll(".s use[data-x], .reference circle")];
    const seen = (mark) => !hidden.has(mark.closest(".s")?.dataset.a);
    const values = plots.flatMap((plot) => marksOf(plot).filter(seen).map(measured));
    const changed = hidden.size > 0 && values.some((value) => !old.log || value > 0);
    const axis = changed ? around(values, old) : old;
    const after = mapping(axis, span);
    const moved = (text) => after.place(before.value(Number(text))).toFixed(1);
    for (const plot of plots) {
      for (const mark of marksOf(plot)) {
        const at = written(mark, heightOf(mark));
        mark.setAttribute(heightOf(mark), changed ? after.place(measured(mark)).toFixed(1) : at);
      }
      for (const path of plot.querySelectorAll(".s .l, .s .band, .s .w, .reference path")) {
        const d = written(path, "d");
        path.setAttribute("d", !changed ? d : d.replace(/([ML]-?[\d.]+ )(-?[\d.]+)|V(-?[\d.]+)/g,
          (_, start, y, end) => start ? start + moved(y) : `V${moved(end)}`));
      }
      plot.querySelector(".ys").innerHTML = ticks(axis).map((tick) => {
        const y = after.place(tick);
        return `<path class="grid" d="M${left} ${y.toFixed(1)}H${right}"/>`
          + `<text x="${left - 6}" y="${(y + 3.6).toFixed(1)}" class="e">${show(tick, axis.unit)}</text>`;
      }).join("");
    }
  }

  const valuesOf = (element) => element.dataset.v.split(" ").map(Number);
  // Redraws panels of bars that share an axis, along x. Each element has the one or two values between which it lies.
  function rescaleBars(plots, hidden) {
    const old = axisOf(plots[0]);
    const seen = (element) => !hidden.has(element.closest(".s")?.dataset.a);
    const values = plots.flatMap((plot) => [...plot.querySelectorAll("[data-v]")].filter(seen).flatMap(valuesOf));
    const changed = hidden.size > 0 && values.some((value) => !old.log || value > 0);
    const axis = changed ? around(values, old) : old;
    for (const plot of plots) {
      const [left, right, top, bottom] = plot.dataset.box.split(" ").map(Number);
      const { place } = mapping(axis, [right, left]);
      const within = (value) => Math.min(Math.max(place(value), left), right);
      for (const element of plot.querySelectorAll("[data-v]")) moveBar(element, changed, within, left);
      plot.querySelector(".xs").innerHTML = ticks(axis, 4).map((tick) => {
        const x = within(tick).toFixed(1);
        return `<path class="grid" d="M${x} ${top}V${bottom}"/>`
          + `<text x="${x}" y="${bottom + 15}" class="c">${show(tick, axis.unit)}</text>`;
      }).join("");
    }
  }
  function moveBar(element, changed, within, left) {
    const name = ["width", "cx", "d", "x"].find((each) => element.hasAttribute(each));
    const before = written(element, name);
    const [first, last = first] = valuesOf(element);
    const end = Math.max(within(first), left + 1).toFixed(1);
    const moved = {
      width: () => (end - left).toFixed(1),
      cx: () => within(first).toFixed(1),
      // A stroke between two values, one from the axis to a value, or one across all rows.
      d: () => {
        const strokes = element.dataset.v.includes(" ") || !before.includes("H");
        const from = strokes ? before.replace(/^M[\d.]+/, `M${within(first).toFixed(1)}`) : before;
        return from.replace(/H[\d.]+/, `H${strokes ? within(last).toFixed(1) : end}`);
      },
      x: () => (Math.max(end, within(last)) + Number(element.dataset.after)).toFixed(1),
    };
    element.setAttribute(name, changed ? moved[name]() : before);
  }
  return { show, placeText, ticks, around, rescale };
})();
if (typeof module !== "undefined") module.exports = warpheapAxis;
