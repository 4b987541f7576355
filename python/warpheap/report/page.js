// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
"use strict";
// The page is whole without this script. It adds: highlighting and hiding from the legend, values under the pointer, the theme.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const chips = all(".chip");
  const chosen = new Set();
  const hidden = new Set();

  function show() {
    root.classList.toggle("focus", chosen.size > 0);
    for (const each of all(".s[data-a], tr[data-a]")) each.classList.toggle("on", chosen.has(each.dataset.a));
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chosen.has(chip.dataset.a)));
    for (const each of all(".s[data-a], figure tr[data-a]")) each.classList.toggle("gone", hidden.has(each.dataset.a));
    for (const chip of chips) chip.classList.toggle("away", hidden.has(chip.dataset.a));
    document.getElementById("clear").hidden = chosen.size + hidden.size === 0;
    for (const name of ["hide", "only"]) document.getElementById(name).hidden = chosen.size === 0;
  }
  // Panels of a figure that share an axis keep sharing it.
  const axes = new Map();
  for (const plot of all(".plot[data-scale]")) {
    const figure = plot.closest(".panels");
    if (!axes.has(figure)) axes.set(figure, new Map());
    const groups = axes.get(figure);
    groups.set(plot.dataset.scale, [...(groups.get(plot.dataset.scale) ?? []), plot]);
  }
  function hideAllocators(names) {
    for (const name of names) hidden.add(name);
    chosen.clear();
    redraw();
  }
  function redraw() {
    show();
    for (const groups of axes.values()) for (const plots of groups.values()) warpheapAxis.rescale(plots, hidden);
  }
  function toggle(names) {
    if (names.some((name) => hidden.has(name))) {
      for (const name of names) hidden.delete(name);
      return redraw();
    }
    const whole = names.every((name) => chosen.has(name));
    for (const name of names) whole ? chosen.delete(name) : chosen.add(name);
    show();
  }
  for (const chip of chips) chip.addEventListener("click", () => toggle([chip.dataset.a]));
  for (const kin of all(".kin")) kin.addEventListener("click", () => toggle(kin.dataset.family.trim().split(" ")));
  document.getElementById("clear").addEventListener("click", () => {
    const redrawn = hidden.size > 0;
    chosen.clear();
    hidden.clear();
    if (redrawn) redraw(); else show();
  });
  document.getElementById("hide").addEventListener("click", () => hideAllocators([...chosen]));
  document.getElementById("only").addEventListener("click", () =>
    hideAllocators(chips.map((chip) => chip.dataset.a).filter((name) => !chosen.has(name))));

  // Contents stand open beside the page and fold above it.
  const contents = document.querySelector(".contents");
  const wide = matchMedia("(min-width: 62.01rem)");
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();

  // Storage is refused to some pages that are opened as files: then the choice lasts as long as the page.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const store = (value) => { try { localStorage.setItem("warpheap-theme", value); } catch { /* see above */ } };
  const stored = () => { try { return localStorage.getItem("warpheap-theme"); } catch { return null; } };
  function paint(theme) {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    button.textContent = `theme: ${theme}`;
  }
  let theme = themes.includes(stored()) ? stored() : "system";
  paint(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    store(theme);
    paint(theme);
  });

  // Under the pointer: the values of all allocators at the nearest place.
  const tip = document.getElementById("tip");
  const names = new Map(chips.map((chip) => [chip.dataset.a, chip.textContent.trim()]));
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
  cursor.setAttribute("class", "cursor");

  function hide() { tip.hidden = true; cursor.remove(); }
  const lost = (mark) => mark.classList.contains("x");
  const heightOf = (mark) => lost(mark) ? -1 : Number(mark.getAttribute("y") ?? mark.getAttribute("cy"));
  function placeOf(mark) {
    return Number(mark.getAttribute("x") ?? mark.getAttribute("cx") ?? mark.getAttribute("d").match(/M([\d.]+)/)[1]);
  }
  function reveal(plot, event) {
    const marks = all("[data-x]", plot).filter((mark) => {
      const series = mark.closest(".s");
      return !series || (!hidden.has(series.dataset.a) && (chosen.size === 0 || chosen.has(series.dataset.a)));
    });
    if (!marks.length) return hide();
    const box = plot.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * plot.viewBox.baseVal.width;
    const measured = marks.filter((mark) => !lost(mark));
    const nearest = (measured.length ? measured : marks).reduce((best, mark) =>
      Math.abs(placeOf(mark) - at) < Math.abs(placeOf(best) - at) ? mark : best);
    const here = marks.filter((mark) => mark.dataset.x === nearest.dataset.x);
    // In the order of the panel, from its top.
    here.sort((a, b) => heightOf(a) - heightOf(b));
    cursor.setAttribute("d", `M${placeOf(nearest)} 24V210`);
    plot.append(cursor);
    tip.replaceChildren();
    const where = warpheapAxis.placeText(Number(nearest.dataset.x), plot.dataset.u, plot.dataset.of);
    const title = document.createElement("b");
    title.textContent = `${plot.getAttribute("aria-label").split(": ")[0]}; ${where}`;
    tip.append(title);
    for (const mark of here) tip.append(row(mark));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6))}px`;
    tip.style.top = `${Math.max(4, event.clientY + height + 18 < innerHeight ? event.clientY + 14 : event.clientY - height - 14)}px`;
  }
  function row(mark) {
    const series = mark.closest(".s");
    const line = document.createElement("div");
    const dot = document.createElement("i");
    dot.style.background = series ? `var(--a${series.dataset.a})` : "var(--soft)";
    const value = document.createElement("span");
    value.textContent = mark.dataset.t;
    if (lost(mark)) value.className = mark.dataset.t;
    line.append(dot, series ? names.get(series.dataset.a) : mark.dataset.n, value);
    return line;
  }
  for (const plot of all(".plot:not(.bars)")) {
    plot.addEventListener("pointermove", (event) => reveal(plot, event));
    plot.addEventListener("pointerdown", (event) => reveal(plot, event));
    plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  }
  addEventListener("scroll", hide, { passive: true });
})();
