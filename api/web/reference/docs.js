// Lists the interfaces of this appliance and shows the one that ?at= names.
"use strict";

function link(at, title, current) {
  const a = document.createElement("a");
  a.href = "/docs/?at=" + encodeURIComponent(at);
  a.textContent = title;
  if (current) a.setAttribute("aria-current", "page");
  return a;
}

async function show() {
  const interfaces = await (await fetch("/docs/interfaces.json")).json();
  if (interfaces.length === 0) return;
  const asked = new URLSearchParams(location.search).get("at");
  const chosen = interfaces.find((i) => i.base === asked) || interfaces[0];
  document.getElementById("interfaces").append(
    ...interfaces.map((i) => link(i.base, i.title, i === chosen)));
  SwaggerUIBundle({
    url: chosen.base + "/openapi.json",
    domNode: document.getElementById("reference"),
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  });
}

show();
