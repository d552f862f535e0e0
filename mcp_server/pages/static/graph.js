// The local graph: drawn by forces, to be dragged, zoomed and followed by a click.
(() => {
  "use strict";

  const WIDTH = 760;
  const LONGEST = 26; // characters of a label

  const short = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1).trimEnd()}…` : name);

  // Nodes push each other apart where their labels would meet; labels are wide and low.
  const keepApart = (halfWidth, height) => {
    let nodes = [];
    const force = () => {
      nodes.forEach((one, at) =>
        nodes.slice(at + 1).forEach((other) => {
          const [x, y] = [other.x - one.x, other.y - one.y];
          const [wide, high] = [halfWidth(one) + halfWidth(other) - Math.abs(x), height - Math.abs(y)];
          if (wide <= 0 || high <= 0) return;
          const [axis, by] = high < wide ? ["y", (high / 2) * (y < 0 ? -1 : 1)] : ["x", (wide / 2) * (x < 0 ? -1 : 1)];
          one[axis] -= by * 0.7;
          other[axis] += by * 0.7;
        }),
      );
    };
    force.initialize = (all) => (nodes = all);
    return force;
  };

  // A phone has no room for what is two relations away.
  const chosen = ({ nodes, links }, isSmall) => ({
    nodes: nodes.filter((each) => !isSmall || !each.far),
    links: links.filter((each) => !isSmall || !each.far),
  });

  const draw = (place) => {
    const isSmall = place.clientWidth < 500;
    const { nodes, links } = chosen(JSON.parse(place.dataset.graph), isSmall);
    const height = isSmall ? 760 : 520;
    const svg = d3
      .select(place)
      .append("svg")
      .attr("viewBox", [-WIDTH / 2, -height / 2, WIDTH, height])
      .attr("role", "group")
      .attr("aria-label", place.dataset.label);
    const stage = svg.append("g");
    const scale = isSmall ? 1.9 : 1.1; // keeps labels legible on a phone
    const halfWidth = (each) => Math.max(14, 3.6 * short(each.name).length) * scale;
    const line = stage
      .selectAll("line")
      .data(links)
      .join("line")
      .attr("class", (each) => (each.far ? "far" : null));
    line.append("title").text((each) => each.relation);
    const node = stage
      .selectAll("a")
      .data(nodes)
      .join("a")
      .attr("href", (each) => each.href)
      .attr("class", (each) =>
        [each.centre && "centre", each.far && "far", each.href ? "note" : "name"]
          .filter(Boolean)
          .join(" "),
      );
    node.append("title").text((each) => each.name);
    node.append("circle").attr("r", (each) => (each.centre ? 11 : each.href ? 7 : 5) * scale);
    node
      .append("text")
      .attr("y", (each) => (each.centre ? 26 : 20) * scale)
      .attr("text-anchor", "middle")
      .attr("font-size", 12.5 * scale)
      .text((each) => short(each.name));

    const simulation = d3
      .forceSimulation(nodes)
      .force("link", d3.forceLink(links).distance((each) => (each.far ? 60 : 120) * scale))
      .force("charge", d3.forceManyBody().strength(-260 * scale))
      .force("apart", keepApart(halfWidth, 36 * scale))
      .force("x", d3.forceX().strength(isSmall ? 0.09 : 0.05))
      .force("y", d3.forceY().strength(0.09))
      .stop();
    nodes[0].fx = nodes[0].fy = 0;
    simulation.tick(260);
    const move = () => {
      line
        .attr("x1", (each) => each.source.x)
        .attr("y1", (each) => each.source.y)
        .attr("x2", (each) => each.target.x)
        .attr("y2", (each) => each.target.y);
      node.attr("transform", (each) => `translate(${each.x},${each.y})`);
    };
    move();
    simulation.on("tick", move);

    const zoom = d3
      .zoom()
      .scaleExtent([0.3, 4])
      .filter((event) => {
        if (event.type === "wheel") return event.ctrlKey || event.metaKey;
        return event.touches ? event.touches.length > 1 : !event.button; // one finger scrolls the page
      })
      // A pinch on a touchpad comes as small steps of the wheel with Ctrl, a wheel's own are large.
      .wheelDelta((event) => -event.deltaY * (Math.abs(event.deltaY) < 30 ? 0.01 : 0.002))
      .on("zoom", (event) => stage.attr("transform", event.transform));
    svg.call(zoom).on("dblclick.zoom", null);
    const fit = () => {
      const xs = nodes.flatMap((each) => [each.x - halfWidth(each), each.x + halfWidth(each)]);
      const ys = nodes.flatMap((each) => [each.y - 14 * scale, each.y + 28 * scale]);
      const [wide, tall] = [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
      const size = Math.min(1.4, (WIDTH - 20) / wide, (height - 20) / tall);
      const middle = [(Math.max(...xs) + Math.min(...xs)) / 2, (Math.max(...ys) + Math.min(...ys)) / 2];
      svg.call(
        zoom.transform,
        d3.zoomIdentity.scale(size).translate(-middle[0], -middle[1]),
      );
    };
    fit();
    node.call(
      d3
        .drag()
        .on("start", (event) => event.active || simulation.alphaTarget(0.2).restart())
        .on("drag", (event, each) => Object.assign(each, { fx: event.x, fy: event.y }))
        .on("end", (event) => event.active || simulation.alphaTarget(0)),
    );
    const buttons = place.closest("section").querySelectorAll("[data-zoom]");
    buttons.forEach((button) =>
      button.addEventListener("click", () => {
        if (button.dataset.zoom === "fit") fit();
        else svg.call(zoom.scaleBy, button.dataset.zoom === "in" ? 1.4 : 1 / 1.4);
      }),
    );
  };

  const drawAll = () =>
    document.querySelectorAll("[data-graph]").forEach((place) => {
      if (!place.querySelector("svg")) draw(place);
    });
  document.addEventListener("memvault:renewed", drawAll);
  drawAll();
})();
