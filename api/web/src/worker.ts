// The service worker: it keeps the files of the app, so that the app opens when the box cannot be
// reached. It keeps no answer of an interface, and knows of nobody.

interface Asked extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
  waitUntil(done: Promise<unknown>): void;
}

const worker = self as unknown as {
  addEventListener(kind: "install" | "activate" | "fetch", take: (e: Asked) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};

const store = "sensegate-files";
const patience = 3000; // ms that the box has to answer, when a file is kept
const ours = /^\/([\w.-]+\.(js|css|svg)|manifest\.json)?$/;
const named = /-[A-Z0-9]{8}\.js$/; // by what is in it: it never changes

/** Fetches a file and keeps it. A new page ends what was kept of an older app. */
async function fresh(request: Request): Promise<Response> {
  const answer = await fetch(request);
  if (!answer.ok) return answer;
  const kept = await caches.open(store);
  if (new URL(request.url).pathname === "/") {
    const before = await kept.match("/");
    if (before && before.headers.get("ETag") !== answer.headers.get("ETag")) {
      for (const old of await kept.keys()) await kept.delete(old);
    }
    await kept.put("/", answer.clone());
  } else await kept.put(request.url, answer.clone());
  return answer;
}

async function file(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  const kept = await caches.match(path === "/" ? "/" : request.url, { ignoreVary: true });
  if (!kept) return fresh(request);
  if (named.test(path)) return kept;
  const late = new Promise<Response>((done) => setTimeout(() => done(kept.clone()), patience));
  return Promise.race([fresh(request), late]).catch(() => kept.clone());
}

/** Keeps the page and the files that it names. */
async function install() {
  const page = await fresh(new Request("/"));
  for (const [, name] of (await page.text()).matchAll(/(?:href|src)="([\w.-]+)"/g)) await fresh(new Request("/" + name));
  await worker.skipWaiting();
}

worker.addEventListener("install", (e) => e.waitUntil(install()));
worker.addEventListener("activate", (e) => e.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method === "GET" && url.origin === location.origin && ours.test(url.pathname) && url.search === "" && url.pathname !== "/worker.js") e.respondWith(file(e.request));
});

export {};
