"use strict";
/* Draws the report out of the JSON in the page. Whatever comes from the document is put
   on the page as text only. Positions in the data count code points; here, UTF-16 units. */
(() => {
  const documents = [JSON.parse(document.getElementById("data").textContent)].flat();
  // "?3" in the address shows the fourth document of a page of several.
  const current = documents[location.search.slice(1)] ? Number(location.search.slice(1)) : 0;
  const data = documents[current];
  const text = data.text;
  const HUES = 6;
  const DEEPEST = 6; // frames within frames that are drawn
  const BINS = 10;

  const byId = (id) => document.getElementById(id);
  const number = (value) => value.toLocaleString("en");
  const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

  function element(tag, name, content) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (content !== undefined) made.textContent = content;
    return made;
  }

  function shape(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    return made;
  }

  /* How many items of a sorted list are below a value, or (from) not above it. */
  function below(list, value, key = (item) => item) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (key(list[middle]) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  const notAbove = (list, value, key) => below(list, value + 1, key);

  /* From code points to UTF-16 units: a character outside the basic plane takes two. */
  function unitsOf(string) {
    const wide = [];
    let point = 0;
    for (let unit = 0; unit < string.length; unit++, point++) {
      if (string.codePointAt(unit) > 0xffff) {
        wide.push(point);
        unit++;
      }
    }
    return wide.length ? (pos) => pos + below(wide, pos) : (pos) => pos;
  }
  const unit = unitsOf(text);

  const lineStarts = [0];
  for (const end of text.matchAll(/\r\n|\r|\n/g)) lineStarts.push(end.index + end[0].length);
  const isLineStart = (pos) => lineStarts[below(lineStarts, pos)] === pos;
  const lineOf = (pos) => notAbove(lineStarts, pos);

  const points = data.points.map(([pos, score, kind]) => ({
    pos: unit(pos),
    score,
    kind: data.kinds[kind],
  }));
  const levels = new Map(data.headings.map(([pos, level]) => [unit(pos), level]));
  const regions = data.regions.map(([first, last, kind]) => {
    const start = unit(first);
    let end = unit(last);
    // A region of whole lines ends before the last line's end; its frame does not.
    const rest = /(?:\r\n|\r|\n)?/y;
    rest.lastIndex = end;
    const whole = isLineStart(start);
    if (whole) end += rest.exec(text)[0].length;
    const block = whole && (end === text.length || isLineStart(end));
    return { start, end: block ? end : unit(last), kind: data.kinds[kind], block };
  });
  // Of two that begin together the outer one comes first.
  regions.sort((a, b) => a.start - b.start || b.end - a.end);
  const edges = [
    ...new Set([
      ...points.map((point) => point.pos),
      ...regions.filter((region) => region.block).flatMap(({ start, end }) => [start, end]),
    ]),
  ].sort((a, b) => a - b);

  const budgets = data.budgets.map((budget) => {
    const chunks = budget.chunks.map((fields, index) => {
      const [start, own, end, firstLine, lastLine, tokens, embedded, sections, kinds, id, oversize, around] = fields;
      return {
        index,
        from: start,
        to: end,
        start: unit(start),
        own: unit(own),
        end: unit(end),
        repeated: own - start,
        firstLine,
        lastLine,
        tokens,
        embedded,
        sections: sections.map((slot) => data.paths[slot]),
        kinds: kinds.map((kind) => data.kinds[kind]),
        id,
        oversize: Boolean(oversize),
        around: around.map((slot) => data.contexts[slot]),
        hue: `c${index % HUES}`,
      };
    });
    budget.cuts.forEach(([pos, kind], index) => {
      chunks[index + 1].cut = { pos: pos === null ? null : unit(pos), kind: data.kinds[kind] };
    });
    const sizes = chunks.map((chunk) => chunk.tokens).sort((a, b) => a - b);
    const sum = sizes.reduce((a, b) => a + b, 0);
    const half = sizes.length >> 1;
    return {
      max: budget.max,
      chunks,
      sizes,
      overlaps: chunks.filter((chunk) => chunk.repeated),
      median: sizes.length ? (sizes[(sizes.length - 1) >> 1] + sizes[half]) / 2 : 0,
      full: sizes.length ? sum / sizes.length / budget.max : 0,
    };
  });

  let budget = budgets[data.shown];
  let articles = [];
  let selected = 0;

  /* ---- one chunk ---- */

  function sections(chunk) {
    const made = element("span");
    if (!chunk.sections.length) made.append("before any heading");
    chunk.sections.forEach((titles, index) => {
      if (index) made.append(element("br"));
      made.append(path(titles));
    });
    return made;
  }

  function path(titles) {
    const made = element("span", "path");
    titles.forEach((title, index) => {
      if (index) made.append(element("span", "step", " › "));
      made.append(element("bdi", "", title));
    });
    return made;
  }

  const lines = (chunk) =>
    chunk.firstLine === chunk.lastLine
      ? `line ${number(chunk.firstLine)}`
      : `lines ${number(chunk.firstLine)}–${number(chunk.lastLine)}`;

  function meter(holder, chunk) {
    holder.classList.toggle("oversize", chunk.oversize);
    holder.firstElementChild.style.width = `${Math.min(100, (100 * chunk.tokens) / budget.max)}%`;
  }

  function article(chunk) {
    const made = element("article", `chunk ${chunk.hue}`);
    made.tabIndex = -1;
    made.setAttribute(
      "aria-label",
      `Chunk ${chunk.index + 1} of ${budget.chunks.length}, ${counted(chunk.tokens, "token")}` +
        (chunk.sections.length ? `, ${chunk.sections[0].join(", ")}` : ""),
    );
    const head = element("header", "head");
    const size = element("span", "size");
    const gauge = element("span", "gauge");
    gauge.append(element("i"));
    meter(gauge, chunk);
    size.append(gauge, `${number(chunk.tokens)}`, element("span", "unit", " tokens"));
    if (chunk.oversize) size.append(element("strong", "flag", "oversize"));
    head.append(element("span", "no", number(chunk.index + 1)), size, path(chunk.sections[0] || []));
    const others = chunk.sections.length - 1;
    if (others > 0) head.append(element("span", "unit", `+ ${counted(others, "section")}`));
    head.append(element("span", "where", lines(chunk)));
    // Rows come when the chunk is near the window; until then its text can be searched.
    const body = element("div", "body plain", text.slice(chunk.own, chunk.end));
    made.append(head, body);
    made.chunk = chunk;
    const rows = 3 + (chunk.lastLine - chunk.firstLine) + (chunk.end - chunk.own) / 120;
    made.style.containIntrinsicBlockSize = `auto ${Math.round(rows * 20)}px`;
    return made;
  }

  /* What is embedded: the chunk's text between its context, or another text. */
  const embeddedText = ({ start, end, around: [before, after] }) =>
    after === undefined ? before : before + text.slice(start, end) + after;

  function addEmbedded(holder) {
    if (holder.querySelector(".embedded")) return;
    const body = element("div", "body plain embedded", embeddedText(holder.chunk));
    holder.insertBefore(body, holder.lastElementChild);
  }

  function badge(point, won) {
    const made = element("span", "point");
    made.append(element("span", "kind", point.kind));
    if (point.score !== undefined) made.append(element("b", "", String(point.score)));
    if (point.score < 0) made.classList.add("bad");
    if (won) made.classList.add("won");
    const score = point.score === undefined ? "no break point of the blocks" : `score ${point.score}`;
    made.title = `${point.kind}, ${score}: ${won ? "won, a chunk begins here" : "lost"}`;
    return made;
  }

  function gutter(pos, marks) {
    const made = element("div", "gutter");
    const line = element("span", "line", number(lineOf(pos)));
    if (!isLineStart(pos)) {
      line.classList.add("mid");
      line.title = `in line ${number(lineOf(pos))}`;
    }
    made.append(...marks, line);
    return made;
  }

  const pointsIn = (first, last) =>
    points.slice(
      below(points, first, (point) => point.pos),
      notAbove(points, last, (point) => point.pos),
    );

  /* The badges at the head of a chunk: of the cut, and of what lies in the white space before. */
  function headMarks(chunk) {
    const found = pointsIn(chunk.index ? budget.chunks[chunk.index - 1].end : 0, chunk.own);
    const marks = found.map((point) => badge(point, chunk.cut?.pos === point.pos));
    if (chunk.cut && chunk.cut.pos === null) marks.push(badge(chunk.cut, true));
    return marks;
  }

  const lost = (first, last) => pointsIn(first, last).map((point) => badge(point, false));

  /* Behind the last chunk: the points there, after the last block. */
  function tail() {
    const marks = lost(budget.chunks.at(-1)?.end ?? 0, text.length);
    if (!marks.length) return [];
    const made = element("div", "tail");
    const margin = element("div", "gutter");
    margin.append(...marks, element("span", "line"));
    made.append(margin, element("div", "text", "end of the document"));
    return [made];
  }

  /* The text of one row; what is repeated, or protected inside the line, in spans. */
  function content(start, end, spans) {
    const made = element("div", "text");
    const inside = spans.filter((span) => span.start < end && span.end > start);
    if (inside.length === 1 && inside[0].start <= start && inside[0].end >= end) {
      made.classList.add(...inside[0].names);
    } else if (inside.length) {
      const cuts = inside.flatMap((span) => [span.start, span.end]);
      const stops = [...new Set([start, ...cuts.filter((pos) => pos > start && pos < end), end])];
      stops.sort((a, b) => a - b);
      for (let i = 1; i < stops.length; i++) {
        const over = inside.filter((span) => span.start < stops[i] && span.end > stops[i - 1]);
        const piece = text.slice(stops[i - 1], stops[i]);
        made.append(over.length ? element("span", over.flatMap((s) => s.names).join(" "), piece) : piece);
      }
      return made;
    }
    made.textContent = text.slice(start, end);
    return made;
  }

  function frame(region, chunk) {
    const made = element("div", "region");
    const parted = budget.chunks.some(
      (other) => other.index && other.own > region.start && other.own < region.end,
    );
    made.classList.toggle("parted", parted);
    made.title = `${region.kind}: ${parted ? "larger than a chunk, divided" : "protected"}`;
    made.append(element("span", "name", region.kind));
    made.classList.toggle("goes-on", region.start < chunk.own);
    return made;
  }

  /* Replace a chunk's plain text by its rows. */
  function complete(holder) {
    const body = holder.lastElementChild;
    if (!body.classList.contains("plain")) return;
    const { chunk } = holder;
    const { own, end } = chunk;
    const near = regions.slice(0, below(regions, end, (r) => r.start)).filter((r) => r.end > own);
    const spans = near
      .filter((region) => !region.block)
      .map((region) => ({ ...region, names: ["framed"] }));
    for (let i = notAbove(budget.overlaps, chunk.index, (c) => c.index); i < budget.overlaps.length; i++) {
      const next = budget.overlaps[i];
      if (next.start >= end) break;
      spans.push({ start: next.start, end: next.own, names: ["hatched", next.hue] });
      break; // a second hatch over the first could not be told from it
    }
    const frames = near.filter((region) => region.block);
    const starts = [own, ...edges.slice(notAbove(edges, own), below(edges, end))];
    const rows = element("div", "body");
    const stack = [];
    let holding = rows;
    starts.forEach((start, index) => {
      const stop = starts[index + 1] ?? end;
      const around = frames.filter((r) => r.start <= start && r.end > start).slice(0, DEEPEST);
      let same = 0;
      while (same < stack.length && stack[same].region === around[same]) same++;
      stack.length = same;
      holding = same ? stack[same - 1].box : rows;
      for (const region of around.slice(same)) {
        const box = frame(region, chunk);
        holding.append(box);
        stack.push({ region, box });
        holding = box;
      }
      const row = element("div", "row");
      if (levels.has(start)) row.classList.add("heading", `h${levels.get(start)}`);
      const marks = index ? lost(start, start) : headMarks(chunk);
      // Blank lines after a frame are a row of their own, with nothing to say.
      if (marks.length || /\S/.test(text.slice(start, stop))) row.append(gutter(start, marks));
      row.append(content(start, stop, spans));
      row.pos = start;
      holding.append(row);
    });
    body.replaceWith(rows);
  }

  const watcher = new IntersectionObserver(
    (seen) => {
      for (const { isIntersecting, target } of seen) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        complete(target);
      }
    },
    { rootMargin: "1000px 0px" },
  );
  addEventListener("beforeprint", () => articles.forEach(complete));

  /* ---- beside the document ---- */

  function describe(chunk) {
    const list = byId("selected");
    const panel = list.parentElement;
    panel.hidden = !chunk;
    if (!chunk) return;
    panel.className = `panel selected ${chunk.hue}`;
    byId("selected-title").textContent = `Chunk ${number(chunk.index + 1)} of ${number(budget.chunks.length)}`;
    meter(byId("meter"), chunk);
    const share = Math.round((100 * chunk.tokens) / budget.max);
    const cut = chunk.cut;
    const rows = [
      ["Sections", sections(chunk)],
      ["Tokens", `${number(chunk.tokens)} of ${number(budget.max)} (${share}%)`],
      ["Embedded", counted(chunk.embedded, "token")],
      ["Begins at", cut ? cut.kind : "document start"],
      ["Overlap", chunk.repeated ? counted(chunk.repeated, "character") : "none"],
      ["Lines", lines(chunk).replace(/^lines? /, "")],
      ["Characters", `${number(chunk.from)}–${number(chunk.to)}`],
      ["Blocks", chunk.kinds.join(", ")],
      ["Id", element("code", "", chunk.id)],
    ];
    if (chunk.oversize) rows.push(["Oversize", "above the budget"]);
    list.replaceChildren(
      ...rows.flatMap(([name, value]) => {
        const described = element("dd", name.toLowerCase().replace(" ", "-"));
        described.append(value);
        return [element("dt", "", name), described];
      }),
    );
  }

  function histogram() {
    const { max, sizes } = budget;
    const bins = Math.min(BINS, max);
    const tops = Array.from({ length: bins }, (_, i) => Math.floor((max * (i + 1)) / bins));
    const largest = sizes.at(-1) ?? 0;
    if (largest > max) tops.push(largest);
    let bottom = 0;
    const rows = tops.map((top) => {
      const count = notAbove(sizes, top) - notAbove(sizes, bottom);
      const row = { from: bottom + 1, to: top, count };
      bottom = top;
      return row;
    });
    const most = Math.max(1, ...rows.map((row) => row.count));
    const holder = byId("histogram");
    holder.replaceChildren(
      ...rows.map((row) => {
        const column = element("div", row.to > max ? "column oversize" : "column");
        column.title = `${number(row.from)}–${number(row.to)} tokens: ${counted(row.count, "chunk")}`;
        const bar = element("i");
        bar.style.height = `${(100 * row.count) / most}%`;
        column.append(element("span", "", row.count ? number(row.count) : ""), bar);
        return column;
      }),
    );
    holder.setAttribute(
      "aria-label",
      rows.map((row) => `${row.from} to ${row.to} tokens: ${counted(row.count, "chunk")}`).join("; "),
    );
    byId("axis").replaceChildren(element("span", "", "1"), element("span", "", number(Math.max(max, largest))));
    byId("spread").textContent = sizes.length
      ? `smallest ${number(sizes[0])}, median ${number(budget.median)}, largest ${number(largest)}`
      : "";
  }

  function overview() {
    const svg = byId("overview");
    svg.setAttribute("viewBox", `0 0 ${Math.max(1, text.length)} 10`);
    svg.replaceChildren(
      ...budget.chunks.map((chunk) =>
        shape("rect", { class: chunk.hue, x: chunk.own, y: 0, width: chunk.end - chunk.own, height: 10 }),
      ),
    );
  }

  /* ---- which budget, which chunk ---- */

  const headroom = () => byId("bar").getBoundingClientRect().bottom;

  /* The row at the top of the window: where the reader is. */
  function place() {
    if (scrollY === 0) return null;
    const top = headroom();
    const holder = articles[below(articles, top + 1, (a) => a.getBoundingClientRect().bottom)];
    if (!holder) return null;
    complete(holder);
    const rows = [...holder.querySelectorAll(".row")];
    const row = rows.find((r) => r.getBoundingClientRect().bottom > top) ?? rows[0];
    return { pos: row.pos, top: row.getBoundingClientRect().top };
  }

  function restore({ pos, top }) {
    const holder = articles[Math.max(0, notAbove(budget.chunks, pos, (c) => c.own) - 1)];
    complete(holder);
    const rows = [...holder.querySelectorAll(".row")];
    const row = rows.findLast((r) => r.pos <= pos) ?? rows[0];
    scrollBy({ top: row.getBoundingClientRect().top - top, behavior: "instant" });
  }

  function show(index) {
    const kept = articles.length ? place() : null;
    const at = budget.chunks[selected]?.own ?? 0;
    budget = budgets[index];
    watcher.disconnect();
    articles = budget.chunks.map(article);
    const main = byId("document");
    main.replaceChildren(...articles, ...tail());
    if (!articles.length) {
      main.append(element("p", "empty", text ? "No chunks: there is nothing but white space." : "No chunks: the document is empty."));
    }
    articles.forEach((holder) => watcher.observe(holder));
    if (byId("show-embedded").checked) articles.forEach(addEmbedded);
    const slider = byId("budget");
    slider.value = index;
    slider.setAttribute("aria-valuetext", counted(budget.max, "token"));
    const summary = byId("summary");
    summary.replaceChildren(
      element("b", "", number(budget.max)),
      " tokens · ",
      element("b", "", number(budget.chunks.length)),
      budget.chunks.length === 1 ? " chunk" : " chunks",
    );
    for (const row of byId("budgets").tBodies[0].rows) {
      const here = row.rowIndex === index + 1;
      row.classList.toggle("here", here);
      row.querySelector("button").setAttribute("aria-pressed", String(here));
    }
    histogram();
    overview();
    select(Math.max(0, notAbove(budget.chunks, at, (chunk) => chunk.own) - 1));
    if (kept && articles.length) restore(kept);
  }

  const budgetIndex = () => budgets.indexOf(budget);
  function changeBudget(index) {
    if (index !== budgetIndex() && budgets[index]) show(index);
  }

  function select(index, { go = false } = {}) {
    const holder = articles[index];
    articles[selected]?.removeAttribute("aria-current");
    if (articles[selected]) articles[selected].tabIndex = -1;
    selected = holder ? index : 0;
    describe(budget.chunks[selected]);
    const rect = byId("overview").children[selected];
    for (const other of byId("overview").querySelectorAll(".here")) other.classList.remove("here");
    rect?.classList.add("here");
    if (!holder) return;
    holder.setAttribute("aria-current", "true");
    holder.tabIndex = 0;
    if (!go) return;
    complete(holder);
    holder.scrollIntoView({ block: "start", behavior: "instant" });
    holder.focus({ preventScroll: true });
  }
  function go(index) {
    if (articles.length) select(Math.min(Math.max(index, 0), articles.length - 1), { go: true });
  }

  /* ---- what the reader does ---- */

  const chunkAround = (node) => node instanceof Element && node.closest("article.chunk");
  const main = byId("document");
  main.addEventListener("mouseover", (event) => {
    const holder = chunkAround(event.target);
    if (holder) describe(holder.chunk);
  });
  main.addEventListener("mouseleave", () => describe(budget.chunks[selected]));
  main.addEventListener("click", (event) => {
    const holder = chunkAround(event.target);
    if (holder) select(holder.chunk.index);
  });
  main.addEventListener("focusin", (event) => {
    const holder = chunkAround(event.target);
    if (holder && holder.chunk.index !== selected) select(holder.chunk.index);
  });
  byId("overview").addEventListener("click", (event) => {
    const box = byId("overview").getBoundingClientRect();
    const pos = ((event.clientX - box.left) / box.width) * text.length;
    go(notAbove(budget.chunks, Math.floor(pos), (chunk) => chunk.own) - 1);
  });

  // Who scrolls a chunk out of sight goes on from what is seen instead.
  let waiting = false;
  function follow() {
    waiting = false;
    const top = headroom();
    const box = articles[selected]?.getBoundingClientRect();
    if (!box || (box.bottom > top && box.top < innerHeight)) return;
    select(Math.min(below(articles, top + 1, (a) => a.getBoundingClientRect().bottom), articles.length - 1));
  }
  addEventListener(
    "scroll",
    () => {
      if (!waiting) requestAnimationFrame(follow);
      waiting = true;
    },
    { passive: true },
  );

  byId("budget").max = budgets.length - 1;
  byId("ticks").replaceChildren(
    ...budgets.map((_, index) => {
      const tick = element("option");
      tick.value = index;
      return tick;
    }),
  );
  byId("budget").addEventListener("input", (event) => changeBudget(Number(event.target.value)));
  byId("previous").addEventListener("click", () => go(selected - 1));
  byId("next").addEventListener("click", () => go(selected + 1));
  byId("ask").addEventListener("click", () => byId("help").showModal());

  const THEMES = ["", "light", "dark"];
  function nextTheme() {
    const root = document.documentElement;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
  }
  byId("theme").addEventListener("click", nextTheme);

  const SWITCHES = { "show-lost": "no-lost", "show-overlap": "no-overlap", "show-regions": "no-regions" };
  for (const [id, name] of Object.entries(SWITCHES)) {
    byId(id).addEventListener("change", (event) => main.classList.toggle(name, !event.target.checked));
  }

  byId("show-embedded").addEventListener("change", ({ target }) => {
    if (target.checked) articles.forEach(addEmbedded);
    main.classList.toggle("shows-embedded", target.checked);
    articles[selected]?.scrollIntoView({ block: "start", behavior: "instant" });
  });

  const openDocument = (index) => {
    if (documents[index]) location.search = `?${index}`;
  };
  const KEYS = {
    j: () => go(selected + 1),
    k: () => go(selected - 1),
    g: () => go(0),
    G: () => go(articles.length - 1),
    "[": () => changeBudget(budgetIndex() - 1),
    "]": () => changeBudget(budgetIndex() + 1),
    b: () => byId("show-lost").click(),
    o: () => byId("show-overlap").click(),
    r: () => byId("show-regions").click(),
    e: () => byId("show-embedded").click(),
    n: () => openDocument(current + 1),
    p: () => openDocument(current - 1),
    t: nextTheme,
    "?": () => byId("help").showModal(),
  };
  for (let digit = 1; digit <= 9; digit++) KEYS[digit] = () => changeBudget(digit - 1);
  const ON_A_CHUNK = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const action = KEYS[event.key] ?? (chunkAround(event.target) ? ON_A_CHUNK[event.key] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  });

  /* ---- what stays ---- */

  byId("name").textContent = data.name || "Standard input";
  byId("files").hidden = documents.length === 1;
  byId("files-title").textContent = counted(documents.length, "document");
  byId("file-list").replaceChildren(
    ...documents.map(({ name, budgets: sized, shown }, index) => {
      const made = element("li");
      const link = element("a", "", name || "Standard input");
      link.href = `?${index}`;
      if (index === current) link.setAttribute("aria-current", "page");
      made.append(link, ` ${number(sized[shown].chunks.length)}`);
      return made;
    }),
  );
  // Not scrollIntoView, which would scroll the page too.
  const here = byId("file-list").children[current];
  byId("file-list").scrollTop = here.offsetTop - byId("file-list").offsetTop;
  byId("facts").textContent = [
    counted(data.characters, "character"),
    counted(text ? lineOf(text.length - 1) : 0, "line"),
    counted(data.tokens, "token"),
    ...data.options,
  ].join(" · ");
  byId("notes").hidden = !data.notes.length;
  byId("notes").replaceChildren(...data.notes.map((note) => element("li", "", note)));
  byId("replaced-panel").hidden = !data.replaced.length;
  byId("replaced").replaceChildren(
    ...data.replaced.map(({ name, shown, count }) => {
      const made = element("li");
      made.append(element("code", "", shown), ` ${name} (${number(count)})`);
      return made;
    }),
  );
  byId("budgets").tBodies[0].replaceChildren(
    ...budgets.map((each, index) => {
      const row = element("tr");
      const head = element("th");
      head.scope = "row";
      const button = element("button", "", number(each.max));
      button.type = "button";
      button.setAttribute("aria-label", `Show ${counted(each.max, "token")}`);
      button.addEventListener("click", () => changeBudget(index));
      head.append(button);
      const cells = [number(each.chunks.length), number(each.median), `${Math.round(100 * each.full)}%`];
      row.append(head, ...cells.map((cell) => element("td", "", cell)));
      return row;
    }),
  );
  // On a phone the document comes first.
  if (matchMedia("(max-width: 60rem)").matches) byId("figures").open = false;
  addEventListener("beforeprint", () => {
    byId("figures").open = true;
  });
  show(data.shown);
})();
