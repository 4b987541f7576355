// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
"use strict";
// A panel of three marks on an axis of 1 to 10,000 us, as far as axis.js asks a page for it.
module.exports = (axis) => {
  const element = (attributes, dataset = {}, series = null) => ({
    dataset,
    hasAttribute: (name) => name in attributes,
    getAttribute: (name) => attributes[name],
    setAttribute: (name, value) => { attributes[name] = String(value); },
    closest: () => series,
    attributes,
  });
  const place = (value) => (210 - 184 * Math.log(value) / Math.log(10000)).toFixed(1);
  const mark = (name, value) => element({ y: place(value) }, { x: "16" }, { dataset: { a: name } });
  const marks = [mark("0", 2), mark("1", 20), mark("2", 9000)];
  const stroke = element({ d: `M52.0 ${place(2)}L350.0 ${place(20)}` });
  const whisker = element({ d: `M52.0 ${place(2)}V${place(20)}` });
  const ys = { innerHTML: "" };
  const plot = {
    dataset: { scale: "1 10000 log us", box: "52 350 26 210" },
    querySelector: () => ys,
    querySelectorAll: (selector) => selector.includes("use") ? marks : [stroke, whisker],
  };
  const look = () => ({
    low: Number(marks[0].attributes.y), middle: Number(marks[1].attributes.y), ticks: ys.innerHTML,
    stroke: Number(stroke.attributes.d.match(/M52.0 ([\d.]+)/)[1]), whisker: Number(whisker.attributes.d.match(/V([\d.]+)/)[1]),
  });
  const seen = {};
  for (const [name, hidden] of [["shown", []], ["hidden", ["2"]], ["again", []]]) {
    axis.rescale([plot], new Set(hidden));
    seen[name] = look();
  }
  return seen;
};
