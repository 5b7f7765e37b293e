// The app as something that is kept on a device: it may be added to the home screen, and opens with
// the last state when the box cannot be reached. The files are kept by worker.js, the state here, for
// one who stays signed in. It installs nothing by itself.

import { effect } from "@preact/signals";
import { stays } from "./api";
import { overview, showOld, trouble, type Overview } from "./state";

const key = "sensegate-last";

/** The last overview of who is signed in, if it was kept. */
function last(): Overview | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "") as Overview;
  } catch {
    return undefined;
  }
}

/** Keeps an overview; null: none any more. */
function keep(o: Overview | null) {
  try {
    if (o && stays()) localStorage.setItem(key, JSON.stringify(o));
    else localStorage.removeItem(key);
  } catch {
    // the browser keeps nothing
  }
}

/** The address of the worker, as Trusted Types want it: the policy of the page names sensegate-worker. */
function workerAddress(): string {
  const types = (window as { trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } } }).trustedTypes;
  const only = (url: string) => (url === "/worker.js" ? url : "");
  return types ? types.createPolicy("sensegate-worker", { createScriptURL: only }).createScriptURL("/worker.js") : "/worker.js";
}

/** Begins to keep the app, and shows what was kept when there is no answer. */
export function keepOnDevice() {
  const manifest = document.createElement("link");
  manifest.rel = "manifest";
  manifest.href = "/manifest.json";
  document.head.append(manifest);
  // Without a secure context, or with a certificate that is not trusted, all goes on without it.
  void navigator.serviceWorker?.register(workerAddress()).catch(() => {});
  effect(() => {
    const o = overview.value;
    if (o !== undefined) return keep(o);
    const old = trouble.value?.status === 0 ? last() : undefined;
    if (old) showOld(old);
  });
}
