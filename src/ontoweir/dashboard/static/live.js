"use strict";
// Live numbers: asks the API every two seconds while the page is seen. Everything works without.
(() => {
  const EVERY = 2000;
  const holder = document.querySelector("[data-poll]");
  const freshness = document.getElementById("freshness");
  const DASH = "\u2013";

  const count = (n) => (n == null ? DASH : Math.round(n).toLocaleString("en-US"));
  const lag = (s) => {
    if (s == null) return DASH;
    if (s < 0) return "0 s";
    if (s >= 172800) return `${count(s / 86400)} days`;
    if (s >= 7200) return `${count(s / 3600)} h`;
    if (s >= 120) return `${count(s / 60)} min`;
    return `${s.toFixed(1)} s`;
  };
  const moment = (s) =>
    s == null ? DASH : new Date(s * 1000).toISOString().slice(0, 19).replace("T", " ");
  const show = {
    tuples_per_second: count, tuples: count, results: count, rejected: count, state_rows: count, on_disk: count,
    lag_seconds: lag, time: moment,
    finished: (t) => (t == null ? DASH : t.slice(0, 19).replace("T", " ")),
    error: (t) => t ?? "",
  };

  const limit = (q) => {
    if (q.verdict === "unbounded" || q.verdict === "undecided") return "no bound";
    return q.bound ? `at most ${q.bound.rows == null ? "finitely many" : count(q.bound.rows)}` : "";
  };

  const fill = (place, found) => {
    for (const cell of place.querySelectorAll("[data-field]")) {
      const field = cell.dataset.field;
      if (field === "bar") {
        const part = found.bound_rows ? (100 * (found.state_rows ?? 0)) / found.bound_rows : 0;
        const wide = found.state_rows ? Math.min(100, Math.max(1, part)) : 0;
        cell.setAttribute("width", wide.toFixed(1));
      } else if (field === "status") {
        cell.textContent = found.status;
        cell.className = `status ${found.status.replaceAll(" ", "-")}`;
      } else if (field === "tier") {
        cell.textContent = found.tier ?? "checking…";
        cell.className = `verdict ${found.verdict ?? ""}`;
      } else if (field === "limit") {
        cell.textContent = limit(found);
      } else if (field === "bound_rows") {
        cell.textContent = count(found.bound_rows);
      } else if (show[field]) {
        cell.textContent = show[field](found[field]);
      }
    }
  };

  const rows = (table, found) => {
    const lines = found.length ? found : [[["none", "soft"]]];
    table.tBodies[0].replaceChildren(...lines.map((cells) => {
      const row = document.createElement("tr");
      for (const [text, style, link] of cells) {
        const cell = row.insertCell();
        if (link) cell.append(Object.assign(document.createElement("a"), { href: link, textContent: text }));
        else cell.textContent = text;
        if (style) cell.className = style;
        if (!found.length) cell.colSpan = table.tHead.rows[0].cells.length;
      }
      return row;
    }));
  };

  const reason = (table, text) => // the rows that were rejected for it
    table.dataset.rejected && `${table.dataset.rejected}&where=${encodeURIComponent(`reason = '${text.replaceAll("'", "''")}'`)}`;

  const draw = (place, text) => {
    const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (found.nodeName === "svg") place.replaceChildren(document.importNode(found, true));
  };

  const update = (found) => {
    if (found.queries) {
      const known = new Set();
      for (const row of holder.querySelectorAll("[data-query]")) {
        const mine = found.queries.find((q) => q.query === row.dataset.query);
        known.add(row.dataset.query);
        const begun = mine && mine.batch != null && row.classList.contains("idle");
        if (!mine || begun) return location.reload();
        const chart = row.querySelector("[data-chart]");
        if (!chart && mine.chart) return location.reload(); // a run has begun
        if (chart && mine.chart) draw(chart, mine.chart);
        fill(row, mine);
      }
      if (found.queries.some((q) => !known.has(q.query))) location.reload();
      return;
    }
    fill(holder, found);
    for (const place of holder.querySelectorAll("[data-chart]")) {
      const text = found.charts[place.dataset.chart];
      if (text) draw(place, text);
    }
    for (const table of holder.querySelectorAll("[data-table]")) {
      if (table.dataset.table === "limits") {
        rows(table, (found.limits ?? []).map((m) => [[m.stream], [m.rule], [m.in_use, "number"],
          [m.observed + (m.broken ? " !" : ""), "number"]]));
      } else if (table.dataset.table === "events") {
        rows(table, (found.events ?? []).map((e) => [[moment(e.time)], [e.event]]));
      } else rows(table, table.dataset.table === "rejects"
        ? Object.entries(found.rejects ?? {}).sort().map(([r, n]) => [[r, "", reason(table, r)], [count(n), "number"]])
        : (found.synopses ?? []).map((s) => [[s.synopsis], [count(s.rows), "number"],
          [count(s.bound_rows), "number"], [s.bound, "soft"]]));
    }
  };

  const poll = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(holder.dataset.poll, { cache: "no-store" });
        if (answer.ok) {
          update(await answer.json());
          freshness.textContent = ` · live at ${moment(Date.now() / 1000).slice(11)} UTC`;
        } else freshness.textContent = " · no new numbers: the server answers with an error";
      } catch {
        freshness.textContent = " · no new numbers: the server does not answer";
      }
    }
    setTimeout(poll, EVERY);
  };
  if (holder) poll();

  // A time of a replay that is chosen is shown at once.
  for (const one of document.querySelectorAll("[data-submit]")) {
    one.form.action = one.form.getAttribute("action").split("#")[0]; // a place in an address takes the focus away
    one.addEventListener("change", () => one.form.requestSubmit());
    if (one.hasAttribute("data-focus")) one.focus();
  }

  // Rows that come: the server says that there are some, then the first page is asked for again.
  const shown = document.querySelector("[data-rows]");
  const cell = (value, head) => {
    const made = document.createElement("td");
    made.dataset.label = head.dataset.label;
    if (head.dataset.kind) made.className = head.dataset.kind;
    if (value == null) {
      made.append(Object.assign(document.createElement("span"), { className: "soft", textContent: "NULL" }));
    } else {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      made.textContent = text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:)/, "$1 $2");
    }
    return made;
  };
  const refresh = async () => {
    const answer = await fetch(shown.dataset.rows, { cache: "no-store" });
    if (!answer.ok) return;
    const found = await answer.json();
    const table = shown.querySelector("table.rows");
    if (!table) {
      if (found.rows.length) location.reload();
      return;
    }
    table.tBodies[0].replaceChildren(...found.rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((value, at) => cell(value, table.tHead.rows[0].cells[at])));
      return row;
    }));
    const all = found.met === found.total ? "" : ` of ${count(found.total)}`;
    shown.querySelector("[data-count]").textContent = count(found.met) + all;
    shown.querySelector("[data-unit]").textContent = found.total === 1 ? "row" : "rows";
    const figure = shown.querySelector("[data-rowchart]");
    if (figure && found.chart) draw(figure, found.chart);
    const map = shown.querySelector("[data-rowmap]");
    if (map && found.map) draw(map, found.map);
  };
  if (shown && window.EventSource) {
    const events = new EventSource(shown.dataset.events);
    let due = null;
    const soon = () => {
      due ??= setTimeout(() => { due = null; refresh(); }, 200);
    };
    events.addEventListener("rows", soon);
    events.addEventListener("ready", () => {
      soon(); // what came since the page was made, or while the server was away
      freshness.textContent = " · live: rows are added as they come";
    });
  }
})();
