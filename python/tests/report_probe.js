// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
"use strict";
// Runs beside the frames that hold the report, and writes what it sees of each as JSON.
addEventListener("load", () => {
  const seen = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement;
    const all = (selector) => [...page.querySelectorAll(selector)];
    const plots = all("svg.plot");
    const empty = (plot) => {
      const box = plot.getBoundingClientRect();
      const marks = plot.querySelectorAll(".s path, .s use, .s rect, .s circle, .s text");
      return box.width < 100 || box.height < 30 || marks.length === 0;
    };
    // Words that run out of their picture are cut off or cross a neighbour.
    const outside = (plot) => {
      const box = plot.getBoundingClientRect();
      return [...plot.querySelectorAll("text")].some((text) => {
        const own = text.getBoundingClientRect();
        return own.left < box.left - 2 || own.right > box.right + 2;
      });
    };
    const before = view.getComputedStyle(page.body).backgroundColor;
    const chip = page.querySelector(".chip");
    chip.click();
    const highlighted = root.classList.contains("focus") && all(".s.on").length > 0;
    const others = all(".s:not(.on)").map((each) => Number(view.getComputedStyle(each).opacity));
    page.getElementById("clear").click();
    const released = !root.classList.contains("focus");
    chip.click();
    page.getElementById("hide").click();
    const gone = all(".s.gone");
    const hidden = gone.length > 0 && gone.every((each) => view.getComputedStyle(each).display === "none");
    page.getElementById("clear").click();
    const shownAgain = all(".s.gone").length === 0;
    const heat = page.querySelector(".heat");
    const plot = page.querySelector(".plot:not(.bars)");
    let tip = "";
    if (plot) {
      plot.scrollIntoView();
      const box = plot.getBoundingClientRect();
      const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
      plot.dispatchEvent(new view.PointerEvent("pointermove", at));
      tip = page.getElementById("tip").hidden ? "" : page.getElementById("tip").textContent;
    }
    const theme = page.getElementById("theme");
    const grounds = ["light", "dark"].map((wanted) => {
      while (!theme.textContent.endsWith(wanted)) theme.click();
      return view.getComputedStyle(page.body).backgroundColor;
    });
    return {
      width: frame.width,
      scrollWidth: root.scrollWidth,
      clientWidth: root.clientWidth,
      plots: plots.length,
      empty: plots.filter(empty).map((each) => each.getAttribute("aria-label")),
      outside: plots.filter(outside).map((each) => each.getAttribute("aria-label")),
      smallest: Math.min(...plots.map((each) => 10.5 * each.getBoundingClientRect().width / each.viewBox.baseVal.width)),
      links: all("a[href]").length,
      broken: all("a[href]").map((each) => each.getAttribute("href"))
        .filter((target) => !target.startsWith("#") || !page.getElementById(target.slice(1))),
      twice: all("[id]").map((each) => each.id).filter((id, place, ids) => ids.indexOf(id) !== place),
      highlighted, released, hidden, shownAgain,
      heatFits: heat.scrollWidth <= heat.parentElement.clientWidth, dimmed: others.every((opacity) => opacity < 0.5), tip, before, grounds,
    };
  });
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
