// Keys, and what changes elsewhere. Every link and form works without this.
(() => {
  "use strict";

  const PREFIX_MS = 1500;
  let prefix = "";
  let prefixTimer = 0;

  const isTyping = (element) =>
    element.matches("textarea, select, input:not([type=checkbox]):not([type=radio])");
  const isShown = (element) => element.getClientRects().length > 0;
  const keyed = () => [...document.querySelectorAll("[data-key]")];
  const palette = () => document.getElementById("palette");

  const use = (element) => {
    if (element.matches("textarea, select, input:not([type=checkbox]):not([type=radio])")) {
      element.scrollIntoView({ block: "nearest" });
      element.focus();
      if (element.select) element.select();
    } else if (element.matches("summary")) {
      element.click();
      const details = element.parentElement;
      const field = details.querySelector("textarea, select, input:not([type=hidden])");
      if (details.open && field) field.focus();
    } else {
      element.click();
    }
  };

  // j and k go through the rows of a list; Enter follows the one that has the focus.
  const step = (by) => {
    const rows = [...document.querySelectorAll("[data-row]")].filter(isShown);
    if (!rows.length) return false;
    const at = rows.indexOf(document.activeElement);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    next.focus();
    return true;
  };

  const showPalette = () => {
    const list = palette().querySelector("dl");
    const rows = keyed().filter((each) => each.dataset.key !== "?");
    const listed = rows.map((each) => [each.dataset.key, labelOf(each)]);
    if (document.querySelector("[data-row]")) listed.push(["j / k", "next, previous in the list"]);
    listed.push(["Ctrl Enter", "send the form"], ["Esc", "leave a field"]);
    list.replaceChildren(
      ...listed.flatMap(([name, label]) => {
        const term = document.createElement("dt");
        const definition = document.createElement("dd");
        const mark = document.createElement("kbd");
        mark.textContent = name;
        term.append(mark);
        definition.textContent = label;
        return [term, definition];
      }),
    );
    palette().showModal();
  };

  const labelOf = (element) => {
    const label = element.getAttribute("aria-label") || element.dataset.label;
    if (label) return label;
    const copy = element.cloneNode(true);
    copy.querySelectorAll("kbd, .count").forEach((each) => each.remove());
    const text = copy.textContent.trim().replace(/\s+/g, " ");
    if (text && !element.matches("textarea, select, input")) return text;
    const named = element.labels && element.labels[0];
    return (named ? named.textContent : element.placeholder || element.name || "").trim();
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target.form) {
      event.preventDefault();
      target.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(target)) target.blur();
    if (isTyping(target)) return;
    if (palette().open && event.key !== "Escape") palette().close();
    const wanted = prefix + event.key;
    clearTimeout(prefixTimer);
    prefix = "";
    if (event.key === "Enter" && target.matches("a, button, summary, input")) return;
    const element = keyed().find((each) => each.dataset.key === wanted && isShown(each));
    if (element) {
      event.preventDefault();
      use(element);
    } else if (event.key === "j" || event.key === "k") {
      if (step(event.key === "j" ? 1 : -1)) event.preventDefault();
    } else if (event.key === "g") {
      prefix = "g ";
      prefixTimer = setTimeout(() => (prefix = ""), PREFIX_MS);
    }
  });

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("#keys")) showPalette();
    if (target === palette()) palette().close();
  });

  // A select or a tick that says so sends its form at once.
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-sends]")) event.target.form.requestSubmit();
  });

  // -- what changes elsewhere ---------------------------------------------------------------

  let touched = false;
  let sending = false;
  let waiting = false;
  document.addEventListener("input", (event) => {
    if (event.target.closest("main")) touched = true;
    if (event.target.id === "filter") touched = false;
  });
  document.addEventListener("submit", () => (sending = true));

  const isBusy = () => {
    const active = document.activeElement;
    const writes = active && active.closest("main") && isTyping(active);
    return touched || sending || writes || palette().open;
  };

  // A graph is drawn into its place after the page is read: that is no difference.
  const isSame = (old, renewed) => {
    const copy = old.cloneNode(true);
    copy.querySelectorAll("[data-graph]").forEach((each) => each.replaceChildren());
    return copy.isEqualNode(renewed);
  };

  const renew = async () => {
    waiting = false;
    if (!document.querySelector("main").hasAttribute("data-live")) return;
    if (isBusy()) {
      waiting = true;
      return;
    }
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || isBusy()) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = [...document.querySelectorAll("main details")].map((each) => each.open);
    const rows = [...document.querySelectorAll("[data-row]")];
    const row = rows.indexOf(document.activeElement);
    for (const id of ["top", "main", "bar"]) {
      const [old, renewed] = [document.getElementById(id), fresh.getElementById(id)];
      if (old && renewed && !isSame(old, renewed)) old.replaceWith(renewed);
    }
    document.dispatchEvent(new Event("memvault:renewed"));
    document.querySelectorAll("main details").forEach((each, at) => {
      if (open[at]) each.open = true;
    });
    if (row >= 0) document.querySelectorAll("[data-row]")[row]?.focus();
  };

  const listen = () => {
    const source = new EventSource("/events");
    let known = null;
    source.addEventListener("message", (event) => {
      if (known !== null && event.data !== known) renew();
      known = event.data;
    });
  };
  document.addEventListener("focusout", () => {
    if (waiting) setTimeout(() => !isBusy() && renew(), 100);
  });
  window.addEventListener("pageshow", () => (sending = false));
  document
    .querySelector("#top [aria-current]")
    ?.scrollIntoView({ block: "nearest", inline: "center" });
  listen();
})();
