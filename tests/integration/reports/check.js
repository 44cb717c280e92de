// check.js - what is wrong with a page as it is shown: an array of texts.
(() => {
  const LEAST_CONTRAST = 4.5; // WCAG 2.1, success criterion 1.4.3, level AA
  const found = [];
  const where = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + ' "' + (e.textContent || "").trim().slice(0, 40) + '"';
  const fault = (text, e) => found.push(e ? text + ": " + where(e) : text);

  // Colours as the browser has computed them, over one another.
  const parse = (text) => {
    const n = (text.match(/[\d.]+/g) || []).map(Number);
    if (!/^rgba?\(/.test(text) || n.length < 3) return null;
    return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const canvas = (() => { // the ground of a page without one
    const probe = document.createElement("div");
    probe.style.color = "Canvas";
    document.body.append(probe);
    const c = parse(getComputedStyle(probe).color);
    probe.remove();
    return c;
  })();
  // What is painted below an element of HTML.
  const ground = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) {
      const c = parse(getComputedStyle(p).backgroundColor);
      if (c && c[3] > 0) layers.push(c);
      if (c && c[3] === 1) break;
    }
    return layers.reverse().reduce((below, c) => over(c, below), canvas);
  };
  const faded = (c, e, until) => {
    let alpha = c[3];
    for (let p = e; p && p !== until; p = p.parentElement) alpha *= Number(getComputedStyle(p).opacity);
    return [c[0], c[1], c[2], alpha];
  };
  // What is painted below a text of a drawing: filled rectangles that come before it and hold its middle.
  const drawn = (text, svg) => {
    const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    let below = ground(svg);
    for (const r of svg.querySelectorAll("rect")) {
      if (!(r.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) || r.closest("defs,clipPath,mask")) continue;
      const b = r.getBoundingClientRect(), s = getComputedStyle(r), c = s.fill === "none" ? null : parse(s.fill);
      if (!c || x < b.left || x > b.right || y < b.top || y > b.bottom) continue;
      c[3] *= Number(s.fillOpacity);
      below = over(faded(c, r, svg), below);
    }
    return below;
  };

  const visible = (e) => {
    const s = getComputedStyle(e), b = e.getBoundingClientRect();
    return s.visibility === "visible" && s.display !== "none" && b.width > 0 && b.height > 0;
  };
  let texts = 0;
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(e) || e.closest("script,style,title,desc,noscript") || !visible(e)) continue;
    seen.add(e);
    texts++;
    const svg = e.ownerSVGElement, s = getComputedStyle(e);
    const color = parse(svg ? s.fill : s.color);
    if (!color) {
      fault("a colour that cannot be judged, " + (svg ? s.fill : s.color), e);
      continue;
    }
    if (svg) color[3] *= Number(s.fillOpacity);
    const below = svg ? drawn(e, svg) : ground(e);
    const ratio = contrast(over(faded(color, e, null), below), below);
    if (ratio < LEAST_CONTRAST) fault("contrast " + ratio.toFixed(2) + " of " + LEAST_CONTRAST, e);
    if (parseFloat(s.fontSize) < 9) fault("letters of " + s.fontSize, e);
  }
  if (texts === 0) fault("there is no text");

  // The page itself does not scroll sideways; what is wider scrolls in itself.
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) {
    fault("wider than the window: " + page.scrollWidth + " of " + page.clientWidth);
    for (const e of document.body.querySelectorAll("*")) {
      const hidden = e.parentElement.closest("table,figure,pre,svg");
      if (!hidden && e.getBoundingClientRect().right > page.clientWidth + 0.5) {
        fault("ends outside of it", e);
        break;
      }
    }
  }
  // What is inside stays inside where nothing scrolls.
  for (const e of document.body.querySelectorAll("p,li,h1,h2,h3,td,th,pre,figcaption")) {
    if (visible(e) && getComputedStyle(e).overflowX === "visible" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
        getComputedStyle(e).display !== "inline") fault("text that is wider than its place, " + e.scrollWidth + " of " + e.clientWidth, e);
  }

  // Names for those who do not see the page, or not all of it.
  if (!document.title.trim()) fault("no title");
  if (!page.lang) fault("no language");
  if (!document.querySelector("meta[name=viewport]")) fault("no viewport");
  if (document.querySelectorAll("main").length !== 1) fault("not one <main>");
  for (const e of document.querySelectorAll("img")) {
    if (!(e.alt || "").trim()) fault("an image without alternative text, " + e.getAttribute("src"));
    else if (e.complete && e.naturalWidth === 0) fault("an image that does not load, " + e.getAttribute("src"));
  }
  for (const e of document.querySelectorAll("svg")) {
    const title = e.querySelector(":scope > title");
    if (e.getAttribute("role") !== "img") fault("a drawing without role=img", e.closest("figure") || e);
    if (!title || !title.textContent.trim()) fault("a drawing without a title", e.closest("figure") || e);
  }
  for (const e of document.querySelectorAll("a")) {
    const image = e.querySelector("img");
    if (!e.textContent.trim() && !(image && image.alt.trim())) fault("a link without text, " + e.getAttribute("href"));
  }
  for (const e of document.querySelectorAll("th")) {
    if (!e.scope) fault("a head without scope", e);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) fault("an id that is there twice: " + id);
  let level = 0, firsts = 0;
  for (const e of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
    const own = Number(e.tagName[1]);
    if (own > level + 1) fault("a heading of level " + own + " after one of " + level, e);
    if (!e.textContent.trim()) fault("a heading without text", e);
    firsts += own === 1;
    level = own;
  }
  if (firsts !== 1) fault(firsts + " headings of level 1");
  const links = [...document.querySelectorAll("a[href],img[src],link[href],script[src]")].map((e) => e.href || e.src);
  return { found, texts, links: [...new Set(links)], ids, title: document.title };
})();
