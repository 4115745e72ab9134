// Search over all pages, also when they are opened from the file system.
// The index is a script that is loaded when somebody first searches.
(function () {
  "use strict";
  const home = document.currentScript.src;
  const shown = 20;

  function load(then) {
    if (window.tacitSections) return then();
    const script = document.createElement("script");
    script.src = new URL("search_index.js", home);
    script.onload = then;
    document.head.append(script);
  }

  function find(query) {
    const whole = query.toLowerCase().trim();
    const terms = whole.split(/\s+/).filter(Boolean);
    if (!terms.length) return [];
    const found = [];
    for (const [url, title, heading, text] of window.tacitSections) {
      const fields = [[title, 6], [heading, 8], [text, 1]].map(([s, w]) => [s.toLowerCase(), w]);
      let score = fields.some(([s]) => s === whole) ? 20 : 0;
      for (const term of terms) {
        const hits = fields.reduce((sum, [s, w]) => sum + (s.includes(term) ? w : 0), 0);
        if (!hits) { score = 0; break; }
        score += hits;
      }
      if (score) found.push({ url, title, heading, text, score, terms });
    }
    return found.sort((a, b) => b.score - a.score);
  }

  function extract(hit) {
    const lower = hit.text.toLowerCase();
    const at = Math.max(0, Math.min(...hit.terms.map((t) => lower.indexOf(t)).filter((i) => i >= 0), 1e9));
    const from = at > lower.length ? 0 : Math.max(0, at - 60);
    const line = document.createElement("p");
    const piece = hit.text.slice(from, from + 180);
    const escaped = hit.terms.map((t) => t.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    for (const part of piece.split(new RegExp(`(${escaped.join("|")})`, "i"))) {
      const marked = hit.terms.includes(part.toLowerCase());
      const node = marked ? document.createElement("mark") : document.createTextNode(part);
      if (marked) node.textContent = part;
      line.append(node);
    }
    if (from) line.prepend("… ");
    return line;
  }

  function show(results, hits) {
    const status = document.createElement("p");
    status.className = "search-status";
    status.textContent = hits.length
      ? `${hits.length} section${hits.length > 1 ? "s" : ""}` + (hits.length > shown ? `, the first ${shown}:` : ":")
      : "Nothing found. All the words must occur in one section.";
    const list = document.createElement("ol");
    for (const hit of hits.slice(0, shown)) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = new URL(hit.url, home);
      link.textContent = hit.heading === hit.title ? hit.title : `${hit.title}: ${hit.heading}`;
      item.append(link, extract(hit));
      list.append(item);
    }
    results.replaceChildren(status, list);
  }

  function start() {
    const content = document.querySelector(".rst-content");
    if (!content) return;
    const form = document.createElement("form");
    form.className = "site-search";
    form.setAttribute("role", "search");
    const box = document.createElement("input");
    Object.assign(box, { type: "search", name: "q", placeholder: "Search the documentation", autocomplete: "off" });
    box.setAttribute("aria-label", "Search the documentation");
    const results = document.createElement("div");
    results.className = "search-results";
    results.setAttribute("aria-live", "polite");
    form.append(box, results);
    content.prepend(form);

    const search = () =>
      box.value.trim() ? load(() => show(results, find(box.value))) : results.replaceChildren();
    box.addEventListener("input", search);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = results.querySelector("a");
      if (first) location.href = first.href;
    });
    const asked = new URLSearchParams(location.search).get("q");
    if (asked) { box.value = asked; search(); }
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
