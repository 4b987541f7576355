// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
"use strict";
// A panel of bars as Python drew it, as far as axis.js asks a page for it: what becomes of it as allocators are hidden.
module.exports = (axis, { scale, box, ticks, elements }, steps) => {
  const made = elements.map(({ attributes, series }) => ({
    attributes,
    dataset: { v: attributes["data-v"], after: attributes["data-after"] },
    hasAttribute: (name) => name in attributes,
    getAttribute: (name) => attributes[name],
    setAttribute: (name, value) => { attributes[name] = String(value); },
    closest: () => series === null ? null : { dataset: { a: series } },
  }));
  const xs = { innerHTML: ticks };
  const plot = {
    dataset: { scale, box },
    querySelector: (selector) => selector === ".xs" ? xs : null,
    querySelectorAll: (selector) => selector === "[data-v]" ? made : [],
  };
  return steps.map((hidden) => {
    axis.rescale([plot], new Set(hidden));
    return { ticks: xs.innerHTML, elements: made.map(({ attributes }) => ({ ...attributes })) };
  });
};
